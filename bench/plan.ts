// Plans how many calls of each case fit into a round, so that a bench also ends in time on a slow machine.
import type { Case } from './measure.ts'

/** A case and the number of its calls in a round. */
export interface Planned {
  readonly each: Case
  readonly calls: number
}

/** The state before a round. */
export interface PlanInput {
  readonly cases: readonly Case[]
  /** Milliseconds per call, by the case's name; an unknown cost counts as 0. */
  readonly costs: ReadonlyMap<string, number>
  /** The number of this round, from 0, and the number of all rounds. */
  readonly round: number
  readonly rounds: number
  /** Milliseconds until the bench should be done. */
  readonly left: number
}

/**
 * Plans as many calls of each case as let the remaining rounds end in time, in proportion to the cases' iterations.
 * @returns null when not even the fewest calls fit. The first round is always planned.
 */
export function planRound({ cases, costs, round, rounds, left }: PlanInput): Planned[] | null {
  const sum = (calls: (each: Case) => number): number =>
    cases.reduce((total, each) => total + (costs.get(each.name) ?? 0) * calls(each), 0)
  if (round > 0 && sum(fewest) > left) return null
  const share = left / (rounds - round) / sum(({ iterations }) => iterations)
  return cases.map((each) => ({
    each,
    calls: Math.max(fewest(each), Math.floor(each.iterations * Math.min(1, share))),
  }))
}

/** The fewest calls of a case: as many as run at once, because with fewer the case would measure something else. */
function fewest({ iterations, atOnce = 1 }: Case): number {
  return Math.min(iterations, atOnce)
}
