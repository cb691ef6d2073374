// Compares the goals with the measurements. `cost` expresses each as time over the floor's time, so that rates, times and
// differences fit on one axis.
import { figureGoals, goals, memoryGoals } from './goals.ts'
import type { Bound, FigureGoal, Goal, MemoryGoal } from './goals.ts'
import type { Row } from './measure.ts'
import type { Report } from './report.ts'
import { digits, formatTable } from './table.ts'

/** A goal and its outcome. */
export interface GoalOutcome {
  readonly id: string
  readonly what: string
  readonly floorName: string
  /** The floor's value as text, in the goal's unit. */
  readonly floor: string
  readonly measured: string
  readonly ratio: string
  /** The one of `measured` and `ratio` that `wanted` refers to. */
  readonly headline: string
  readonly wanted: string
  readonly met: boolean
  /** Time over the floor's time; below 1 is faster than the floor. Null for a goal that is not about time. */
  readonly cost: {
    readonly measured: number
    readonly wanted: number
    readonly peer: { readonly name: string; readonly cost: number } | null
  } | null
}

/**
 * Returns the outcome of every goal whose bench has run.
 * @throws when the bench lacks the goal's row or figure, because one of them was renamed.
 */
export function judgeGoals(reports: readonly Report[]): GoalOutcome[] {
  const find = (bench: string): Report | undefined => reports.find((each) => each.bench === bench)
  return [
    ...goals.flatMap((goal) => {
      const report = find(goal.bench)
      return report === undefined ? [] : [judge(goal, report.rows)]
    }),
    ...figureGoals.flatMap((goal) => {
      const report = find(goal.bench)
      return report === undefined ? [] : [judgeFigure(goal, report)]
    }),
    ...memoryGoals.flatMap((goal) => {
      const report = find(goal.bench)
      return report === undefined ? [] : [judgeMemory(goal, report)]
    }),
  ]
}

function judge(goal: Goal, rows: readonly Row[]): GoalOutcome {
  const { id, what, bound, peer } = goal
  const row = findRow(rows, goal.row)
  const floor = findRow(rows, row.floor ?? '')
  const known =
    peer === undefined ? null : { name: peer.name, cost: costOf(bound, floor, peer.value) }
  const { value, wanted } = describe(bound, row)
  const isRate = bound.kind === 'timesRate'
  const show = ({ p50, p95, perSecond }: Row): string =>
    isRate
      ? `${digits(perSecond ?? Number.NaN)}/s`
      : `${digits(bound.kind === 'p95Over' || bound.kind === 'timesP95' ? p95 : p50)} ms`
  const isDifference = bound.kind === 'p50Over' || bound.kind === 'p95Over'
  const ratio = isDifference
    ? `${value < 0 ? '' : '+'}${digits(value)} ms`
    : `×${digits((bound.kind === 'timesP95' ? row.ratioP95 : row.ratio) ?? Number.NaN)}${isRate ? ' rate' : ''}`
  return {
    id,
    what,
    floorName: goal.floor,
    floor: show(floor),
    measured: show(row),
    ratio,
    headline: ratio,
    wanted,
    met: 'most' in bound ? value <= bound.most : value >= bound.least,
    cost: {
      measured: costOf(bound, floor, value),
      wanted: costOf(bound, floor, 'most' in bound ? bound.most : bound.least),
      peer: known,
    },
  }
}

function judgeFigure(goal: FigureGoal, { figures }: Report): GoalOutcome {
  const { id, what, floor: floorName, unit, most } = goal
  const measured = findFigure(figures, goal.figure)
  const floor = findFigure(figures, goal.floorFigure)
  const value = measured / floor
  const ratio = `×${digits(value)}`
  return {
    id,
    what,
    floorName,
    floor: `${digits(floor)} ${unit}`,
    measured: `${digits(measured)} ${unit}`,
    ratio,
    headline: ratio,
    wanted: `≤ ×${most}`,
    met: value <= most,
    cost: { measured: value, wanted: most, peer: null },
  }
}

function judgeMemory({ id, what, figure, most }: MemoryGoal, { figures }: Report): GoalOutcome {
  const before = findFigure(figures, `${figure} after 100`)
  const after = findFigure(figures, `${figure} at the end`)
  const grown = after - before
  const ratio = `${grown < 0 ? '' : '+'}${digits(grown)} MB`
  return {
    id,
    what,
    floorName: 'after 100 runs',
    floor: `${digits(before)} MB`,
    measured: `${digits(after)} MB`,
    ratio,
    headline: ratio,
    wanted: `≤ +${most} MB`,
    met: grown <= most,
    cost: null,
  }
}

function findFigure(figures: Report['figures'], name: string): number {
  const found = figures[name]
  if (found === undefined) throw new Error(`there is no figure ${name}`)
  return found
}

function findRow(rows: readonly Row[], name: string): Row {
  const found = rows.find((row) => row.name === name)
  if (found === undefined) throw new Error(`there is no row ${name}`)
  return found
}

/** Returns the figure of the row that the bound limits, and the bound in words. */
function describe(bound: Bound, row: Row): { value: number; wanted: string } {
  const { ratio, ratioP95, overP50, overP95 } = row
  const or = (value: number | null): number => value ?? Number.NaN
  switch (bound.kind) {
    case 'p50Over':
      return { value: or(overP50), wanted: `≤ +${bound.most} ms` }
    case 'p95Over':
      return { value: or(overP95), wanted: `≤ +${bound.most} ms` }
    case 'timesP50':
      return { value: or(ratio), wanted: `≤ ×${bound.most}` }
    case 'timesP95':
      return { value: or(ratioP95), wanted: `≤ ×${bound.most}` }
    case 'timesRate':
      return { value: or(ratio), wanted: `≥ ×${bound.least} rate` }
  }
}

/** Converts a value of the bound's kind to time over the floor's time. */
function costOf({ kind }: Bound, floor: Row, value: number): number {
  switch (kind) {
    case 'p50Over':
      return (floor.p50 + value) / floor.p50
    case 'p95Over':
      return (floor.p95 + value) / floor.p95
    case 'timesP50':
    case 'timesP95':
      return value
    case 'timesRate':
      return 1 / value
  }
}

/** Formats a table with one line per goal; empty without goals. */
export function formatGoals(outcomes: readonly GoalOutcome[]): string {
  if (outcomes.length === 0) return ''
  const met = outcomes.filter((outcome) => outcome.met).length
  const lines = outcomes.map((outcome) => [
    outcome.id,
    outcome.what,
    outcome.floor,
    outcome.measured,
    outcome.ratio,
    outcome.wanted,
    outcome.met ? 'yes' : 'no',
    outcome.floorName,
  ])
  const heads = ['goal', 'what', 'floor', 'measured', 'ratio', 'wanted', 'met', 'the floor is']
  return `${formatTable(heads, lines, [0, 1, 7])}\n${met} of ${outcomes.length} goals are met.\n`
}
