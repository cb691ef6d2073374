// What a bench hands over when it is done, and the table it becomes. Alone a bench prints its own; under run.ts it
// writes a file, and run.ts prints one table for all.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Row } from './measure.ts'

/** The outcome of one bench file. */
export interface Report {
  /** Its path below bench/ without the ending, such as `executor/floor`. */
  readonly bench: string
  readonly rows: readonly Row[]
  /** Findings that are no times: lines to print. */
  readonly notes: readonly string[]
  /** What must not be: each makes the run fail. */
  readonly failures: readonly string[]
}

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, result: { type: 'string' } },
  allowPositionals: true,
})

/** True when figures need only show that the bench works. */
export const isQuick = values.quick

/** So many calls in a full run, a quarter of them in a quick one. */
export function scaleIterations(full: number, least = 3): number {
  return isQuick ? Math.max(least, Math.ceil(full / 4)) : full
}

/** The last thing a bench does. */
export function report(
  bench: string,
  rows: readonly Row[],
  { notes = [], failures = [] }: Partial<Pick<Report, 'notes' | 'failures'>> = {},
): void {
  const whole: Report = { bench, rows, notes, failures }
  if (values.result === undefined) process.stdout.write(formatReports([whole]))
  else writeFileSync(values.result, JSON.stringify(whole))
  if (failures.length > 0) process.exitCode = 1
}

/** Reads what a bench left; null when it ended before its end. */
export function readReport(path: string): Report | null {
  try {
    // We wrote it ourselves, a moment ago.
    const whole: Report = JSON.parse(readFileSync(path, 'utf8'))
    return whole
  } catch {
    return null
  }
}

const columns = [
  ['name', 'n', 'p50', 'p95', 'p99', 'max', 'per second', 'over floor', '+p50', '+p95', 'floor'],
] as const

/** One table over all benches, then their notes and failures. Times in milliseconds. */
export function formatReports(reports: readonly Report[]): string {
  const lines = reports.flatMap(({ bench, rows }) =>
    rows.map((row) => [
      `${bench}: ${row.name}`,
      String(row.n),
      ...[row.p50, row.p95, row.p99, row.max].map(format),
      formatOr(row.perSecond),
      row.ratio === null ? '' : `x${row.ratio.toFixed(2)}${row.atOnce > 1 ? ' rate' : ''}`,
      formatOr(row.overP50),
      formatOr(row.overP95),
      row.floor ?? '',
    ]),
  )
  const table = [...columns, ...lines]
  const widths = columns[0].map((_, column) =>
    Math.max(...table.map((line) => line[column]?.length ?? 0)),
  )
  const isText = (column: number): boolean => column === 0 || column === columns[0].length - 1
  const text = table.map((line) =>
    line
      .map((cell, column) =>
        isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
  text.splice(1, 0, '-'.repeat(Math.max(...text.map((line) => line.length))))
  const list = (words: string, pick: (each: Report) => readonly string[]): string[] =>
    reports.flatMap((each) => pick(each).map((line) => `${words}${each.bench}: ${line}`))
  return `${[
    ...(lines.length > 0 ? text : []),
    '',
    ...list('', ({ notes }) => notes),
    ...list('FAILED ', ({ failures }) => failures),
  ]
    .join('\n')
    .trimEnd()}\n`
}

/** Three digits or so. */
function format(value: number): string {
  return value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0)
}

function formatOr(value: number | null): string {
  return value === null ? '' : format(value)
}
