// What an error says, for messages that name what of ours failed: one reading for all rooms.

/** An error's words. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The kernel's or a library's name for what failed, such as `EBUSY`; undefined for an error that has none. */
export function readErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
