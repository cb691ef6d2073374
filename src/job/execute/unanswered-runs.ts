// Runs whose start got no answer, perhaps after its commit: the next statement seeks them.

// A stopped server executes what it was sent within moments of its first answer.
const soughtMilliseconds = 10_000

/** With the time until which each may yet begin. */
export interface UnansweredRuns {
  readonly areAny: boolean
  /** All of them: no two calls may find the same one. */
  takeAll(): Map<string, number>
  /**
   * Each that may yet begin is sought once more after its time.
   * @param begun one that was sought with them had begun, so these may have: their time starts anew.
   */
  giveBack(runs: ReadonlyMap<string, number>, begun: boolean): void
}

export function createUnansweredRuns(): UnansweredRuns {
  let unanswered = new Map<string, number>()
  return {
    get areAny() {
      return unanswered.size > 0
    },
    takeAll() {
      const all = unanswered
      unanswered = new Map()
      return all
    },
    giveBack(runs, begun) {
      const now = performance.now()
      for (const [run, soughtUntil] of runs) {
        const until = begun ? Number.POSITIVE_INFINITY : soughtUntil
        if (until > now) unanswered.set(run, Math.min(until, now + soughtMilliseconds))
      }
    },
  }
}
