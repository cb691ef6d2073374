// Counts what this process refused in the last hours, by error code, because the event log does not record refusals.
import type { ProblemCode } from '#error'

export interface Refusals {
  readonly count: (problem: ProblemCode) => void
  readonly read: () => {
    /** How many seconds back the counts reach, at most. */
    readonly seconds: number
    readonly counts: Readonly<Partial<Record<ProblemCode, number>>>
  }
  /** Counts the refusals of the minutes that began at most `from` and more than `until` seconds ago. */
  readonly countBetween: (from: number, until: number) => number
}

const keptMinutes = 200
const readMinutes = 5
const minuteMilliseconds = 60_000

type Counts = Partial<Record<ProblemCode, number>>

/** @param now returns milliseconds of a clock that never goes back. */
export function createRefusals(now: () => number = () => performance.now()): Refusals {
  const born = now()
  const minutes = new Map<number, Counts>()
  const minuteNow = (): number => Math.floor(now() / minuteMilliseconds)
  const forget = (): void => {
    for (const minute of minutes.keys())
      if (minute <= minuteNow() - keptMinutes) minutes.delete(minute)
  }
  return {
    count(problem) {
      forget()
      const counts = minutes.get(minuteNow()) ?? {}
      counts[problem] = (counts[problem] ?? 0) + 1
      minutes.set(minuteNow(), counts)
    },
    read() {
      forget()
      const sum: Counts = {}
      for (const [minute, counts] of minutes) {
        if (minute <= minuteNow() - readMinutes) continue
        for (const [code, count] of Object.entries(counts) as [ProblemCode, number][])
          sum[code] = (sum[code] ?? 0) + count
      }
      const reach = (readMinutes - 1) * 60 + (now() % minuteMilliseconds) / 1000
      return { seconds: Math.min(reach, (now() - born) / 1000), counts: sum }
    },
    countBetween(from, until) {
      let sum = 0
      for (const [minute, counts] of minutes) {
        const ago = (now() - minute * minuteMilliseconds) / 1000
        if (ago <= from && ago > until) sum += Object.values(counts).reduce((all, n) => all + n, 0)
      }
      return sum
    },
  }
}
