// What an error says: for messages that name the step of ours that failed.

/** The kernel's name for what failed, such as `EBUSY`; undefined for an error that is not the kernel's. */
export function readCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** An error's words. */
export function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
