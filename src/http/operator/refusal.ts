// Counts what this process refused in the last hours, by error code, because the event log does not record refusals.
import type { ProblemCode } from '#error'

type Counts = Readonly<Partial<Record<ProblemCode, number>>>

export interface Refusals {
  readonly count: (problem: ProblemCode) => void
  /** Returns the refusals of the minutes that began at most `from` and more than `until` seconds ago. */
  readonly read: (from: number, until: number) => Counts
}

const keptMinutes = 200

/** @param now returns seconds of a clock that never goes back. */
export function createRefusals(now = (): number => performance.now() / 1000): Refusals {
  const minutes = new Map<number, Counts>()
  return {
    count(problem) {
      const minute = Math.floor(now() / 60)
      for (const old of minutes.keys()) if (old <= minute - keptMinutes) minutes.delete(old)
      const counts = minutes.get(minute) ?? {}
      minutes.set(minute, { ...counts, [problem]: (counts[problem] ?? 0) + 1 })
    },
    read(from, until) {
      const sum: Partial<Record<ProblemCode, number>> = {}
      for (const [minute, counts] of minutes) {
        const ago = now() - minute * 60
        if (ago > from || ago <= until) continue
        for (const [code, count] of Object.entries(counts) as [ProblemCode, number][])
          sum[code] = (sum[code] ?? 0) + count
      }
      return sum
    },
  }
}
