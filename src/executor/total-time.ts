// The wall time that all phases of one request may take together (`totalSeconds`). Only the run time that the phases report
// counts: neither waiting nor making boxes does.
import type { Phase, PhaseLimits } from '#contract'

export interface TotalTime {
  /** Reduces the wall limit to the time left. Returns the same object when enough time is left. */
  narrow(limits: PhaseLimits): PhaseLimits
  /** Changes a phase's ending to `total_limit` if the narrowed limit ended it. */
  judge(phase: Phase, given: PhaseLimits, usual: PhaseLimits): Phase
  /** Subtracts a phase's wall time from the time left. */
  spend(phase: Phase): void
}

/** The wall limit of a phase when no time is left: the phase then ends as `total_limit`. */
const leastSeconds = 0.001

/** @param seconds no bound when undefined. */
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
