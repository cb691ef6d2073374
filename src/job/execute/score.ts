// Scores a submission by its passed tests.
import type { Verdict } from '#event'
import type { GroupOption, TestOption } from '#options'
import type { GroupReport } from '#report'

export interface Score {
  readonly score: number
  /** The score if all tests had passed. */
  readonly max_score: number
  /** In the order of the request; null without groups. */
  readonly groups: readonly GroupReport[] | null
}

/** The verdicts of tests so far; null for a test that was not run, or not yet. */
type Verdicts = readonly (Verdict | null)[]

interface Scored {
  readonly tests: readonly TestOption[]
  readonly groups: readonly GroupOption[] | undefined
}

/** Scores tests; null when neither tests nor groups have points. */
export function scoreTests({ tests, groups }: Scored, verdicts: Verdicts): Score | null {
  if (groups !== undefined) {
    const reports = groups.map(({ name, points }): GroupReport => {
      const passed = hasPassed(tests, name, verdicts)
      return { name, passed, score: passed ? points : 0, max_score: points }
    })
    return {
      score: sum(reports.map(({ score }) => score)),
      max_score: sum(reports.map((group) => group.max_score)),
      groups: reports,
    }
  }
  if (tests.every(({ points }) => points === undefined)) return null
  const passed = tests.filter((_, index) => verdicts[index] === 'AC')
  return { score: sumPoints(passed), max_score: sumPoints(tests), groups: null }
}

/**
 * Whether a test is skipped because of the verdicts before it.
 * @param stopsOnFailure skips the tests of a group after the first one that is not accepted.
 */
export function isSkipped(
  { tests, groups }: Scored,
  index: number,
  verdicts: Verdicts,
  stopsOnFailure: boolean,
): boolean {
  if (groups === undefined) return false
  const own = tests[index]?.group
  const required = groups.find(({ name }) => name === own)?.require_pass ?? []
  if (required.some((name) => !hasPassed(tests, name, verdicts))) return true
  return (
    stopsOnFailure &&
    tests.slice(0, index).some(({ group }, at) => group === own && verdicts[at] !== 'AC')
  )
}

/** Whether a group passed. A group that requires a failed one was not run, so it has not passed. */
function hasPassed(tests: readonly TestOption[], name: string, verdicts: Verdicts): boolean {
  return tests.every(({ group }, index) => group !== name || verdicts[index] === 'AC')
}

function sumPoints(tests: readonly TestOption[]): number {
  return sum(tests.map(({ points = 0 }) => points))
}

/** Adds points, to millionths, because further digits come from binary fractions. */
function sum(points: readonly number[]): number {
  return Math.round(points.reduce((all, one) => all + one, 0) * 1e6) / 1e6
}
