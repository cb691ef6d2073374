// Files that a run has left under the names that its request asked for.

/** Of the contents of a run's files together. */
export const outputFilesBytesMost = 1024 * 1024

export interface OutputFile {
  /** As it was asked for: a path below /box. */
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Null when it did not fit beside those before it. */
  readonly content: Uint8Array | null
}
