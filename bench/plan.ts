// How many calls of each case fit into a round, so that a bench ends when its time is up on a slow machine too.
import type { Case } from './measure.ts'

/** A case and how often it is called in a round. */
export interface Planned {
  readonly each: Case
  readonly calls: number
}

/** What is known before a round. */
export interface PlanInput {
  readonly cases: readonly Case[]
  /** Milliseconds a call, by the case's name; what is not known costs nothing. */
  readonly costs: ReadonlyMap<string, number>
  /** From 0 on, of so many. */
  readonly round: number
  readonly rounds: number
  /** Milliseconds until the bench should be done. */
  readonly left: number
}

/**
 * As many calls of each as let the rounds that are to come end in time, in the cases' own proportion.
 * @returns null when not even the fewest calls fit; the first round is had whatever it takes.
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

/** As many as are under way at once: with fewer it would be another case. */
function fewest({ iterations, atOnce = 1 }: Case): number {
  return Math.min(iterations, atOnce)
}
