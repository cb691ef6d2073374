// What all phases of one request may take together, by the clock. Only what its programs ran counts, as phases report it: neither
// what it waited for, nor what making boxes took.
import type { Phase, PhaseLimits } from '#contract'

export interface TotalTime {
  /** No phase may run for longer than is left. The very limits when that is enough. */
  narrow(limits: PhaseLimits): PhaseLimits
  /** A phase that had these limits: when what was left ended it, that is how it ended. */
  judge(phase: Phase, given: PhaseLimits, usual: PhaseLimits): Phase
  /** Counts a phase. */
  spend(phase: Phase): void
}

/** What a phase is given when nothing is left: its end then says why. */
const leastSeconds = 0.001

/** @param seconds undefined: as long as it takes. */
export function createTotalTime(seconds = Number.POSITIVE_INFINITY): TotalTime {
  let left = seconds
  return {
    narrow: (limits) =>
      left < limits.wallSeconds ? { ...limits, wallSeconds: Math.max(leastSeconds, left) } : limits,
    judge: (phase, given, usual) =>
      given !== usual && phase.ending === 'wall_limit'
        ? { ...phase, ending: 'total_limit' }
        : phase,
    spend({ usage }) {
      left -= usage.wallSeconds
    },
  }
}
