// Runs whose beginning was asked for and never answered, perhaps after its commit: the next statement seeks them, and one
// that did begin is taken up.

// A server that stood still executes what it had been sent within moments of its first answer.
const soughtMilliseconds = 10_000

/** Runs whose beginning was asked for and never answered, and until when each may yet begin. */
export interface LostRuns {
  readonly areAny: boolean
  /** Takes all of them over: no two calls may find the same one. */
  claim(): Map<string, number>
  /** Puts those back that may yet begin: each is sought once more when its time is over, however late that is. */
  giveBack(runs: ReadonlyMap<string, number>): void
  forget(run: string): void
}

/** None is lost yet. */
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
