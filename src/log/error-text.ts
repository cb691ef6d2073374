// Reads the message and the code of an error, for messages about the service's own failures.

export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the code of the kernel or a library, such as `EBUSY`; undefined for an error without one. */
export function readErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
