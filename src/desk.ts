// Shares a look among all who ask at about the same time.

export interface Desk<T> {
  readonly read: () => Promise<T>
}

/** At most one look at a time and one in that many milliseconds; none while nobody asks. A look that failed is not kept. */
export function createDesk<T>(readAnew: () => Promise<T>, keptMilliseconds: number): Desk<T> {
  let look: Promise<T> | null = null
  let keptUntil = Number.POSITIVE_INFINITY
  return {
    read() {
      if (look !== null && performance.now() < keptUntil) return look
      const begun = readAnew()
      look = begun
      keptUntil = Number.POSITIVE_INFINITY
      begun.then(
        () => (keptUntil = performance.now() + keptMilliseconds),
        () => {
          if (look === begun) look = null
        },
      )
      return begun
    },
  }
}
