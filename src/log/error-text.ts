// What an error says, for messages about our own failures.

export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code from kernel or library, such as `EBUSY`; undefined for an error without one. */
export function readErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
