// The report of a bench and its table. A bench that runs alone prints its table. Under run.ts a bench writes its report to a
// file, and run.ts prints the table.
import { readFileSync, writeFileSync } from 'node:fs'
import type { Row } from './measure.ts'
import { resultPath } from './options.ts'
import { digits, formatTable } from './table.ts'

/** The results of one bench file. */
export interface Report {
  /** The bench's path below bench/, without the file name's ending, such as `executor/box`. */
  readonly bench: string
  readonly rows: readonly Row[]
  /** Findings other than times, as lines to print. */
  readonly notes: readonly string[]
  /** Findings other than times, for goals and other programs: numbers by name and unit. */
  readonly figures: Readonly<Record<string, number>>
  /** Violated bounds. Each one makes the run fail. */
  readonly failures: readonly string[]
}

export { isQuick, scaleIterations } from './options.ts'

/** Prints or writes a bench's report. It is the last call of a bench. */
export function report(
  bench: string,
  rows: readonly Row[],
  {
    notes = [],
    figures = {},
    failures = [],
  }: Partial<Pick<Report, 'notes' | 'figures' | 'failures'>> = {},
): void {
  const whole: Report = { bench, rows, notes, figures, failures }
  if (resultPath === undefined) process.stdout.write(formatReports([whole]))
  else writeFileSync(resultPath, JSON.stringify(whole))
  if (failures.length > 0) process.exitCode = 1
}

/** Reads a bench's report; null when the bench exited before it wrote one. */
export function readReport(path: string): Report | null {
  try {
    // `report` wrote the file a moment ago, so its shape needs no check.
    const whole: Report = JSON.parse(readFileSync(path, 'utf8'))
    return whole
  } catch {
    return null
  }
}

const heads = [
  'name',
  'n',
  'p50',
  'p95',
  'p99',
  'max',
  'per second',
  'over floor',
  '+p50',
  '+p95',
  'floor',
]

/** Formats one table over all benches, then their notes and failures. Times are in milliseconds. */
export function formatReports(reports: readonly Report[]): string {
  const lines = reports.flatMap(({ bench, rows }) =>
    rows.map((row) => [
      `${bench}: ${row.name}`,
      String(row.n),
      ...[row.p50, row.p95, row.p99, row.max].map(digits),
      digitsOr(row.perSecond),
      row.ratio === null ? '' : `x${row.ratio.toFixed(2)}${row.atOnce > 1 ? ' rate' : ''}`,
      digitsOr(row.overP50),
      digitsOr(row.overP95),
      row.floor ?? '',
    ]),
  )
  const list = (words: string, pick: (each: Report) => readonly string[]): string[] =>
    reports.flatMap((each) => pick(each).map((line) => `${words}${each.bench}: ${line}`))
  return `${[
    ...(lines.length > 0 ? [formatTable(heads, lines, [0, heads.length - 1])] : []),
    ...list('', ({ notes }) => notes),
    ...list('FAILED ', ({ failures }) => failures),
  ]
    .join('\n')
    .trimEnd()}\n`
}

function digitsOr(value: number | null): string {
  return value === null ? '' : digits(value)
}
