// Runs whose start got no answer, perhaps after its commit: the next statement seeks them.

// A stopped server executes what it was sent within moments of its first answer.
const soughtMilliseconds = 10_000

/** With the time until which each may yet begin. */
export interface LostRuns {
  readonly areAny: boolean
  /** All of them: no two calls may find the same one. */
  claim(): Map<string, number>
  /** Each that may yet begin is sought once more after its time. */
  giveBack(runs: ReadonlyMap<string, number>): void
  forget(run: string): void
}

export function createLostRuns(): LostRuns {
  let lost = new Map<string, number>()
  return {
    get areAny() {
      return lost.size > 0
    },
    claim() {
      const claimed = lost
      lost = new Map()
      return claimed
    },
    giveBack(runs) {
      const now = performance.now()
      for (const [run, until] of runs) {
        if (until > now) lost.set(run, Math.min(until, now + soughtMilliseconds))
      }
    },
    forget(run) {
      lost.delete(run)
    },
  }
}
