// Output before its program has ended.

/** What a run has written so far. */
export interface OutputSource {
  /** A copy of what was captured from this byte on, at most so many. */
  read(output: 'stdout' | 'stderr', from: number, most: number): Buffer
}

/** Notified of the output of one run. */
export interface OutputTap {
  /** A run begins. Once more when it could not, and begins elsewhere. */
  open(source: OutputSource): void
  /** More was captured. */
  note(): void
  /** The run is over, and the source with it. */
  close(): void
}
