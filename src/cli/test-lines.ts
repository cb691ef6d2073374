// Describes the result of each test of a submission in a line. Names and outputs are strangers' text, so their control
// characters are escaped.
import type { Difference, Result, StreamedTest, TestResult } from '#client'
import { makeVisible } from './output.ts'

const excerptCharacters = 40

/** Returns a line, without a line end, for each test: name, verdict, figures, and where a wrong answer differs. */
export function describeTests(tests: readonly TestResult[]): string[] {
  const names = tests.map(({ name }, index) =>
    name === null ? `#${index + 1}` : makeVisible(name),
  )
  const width = Math.max(0, ...names.map((name) => name.length))
  return tests.map((test, index) => `${names[index]?.padEnd(width)}  ${describeOutcome(test)}`)
}

/** Returns the line for a test that has just ended. */
export function describeStreamedTest(test: StreamedTest): string {
  const name = test.name === null ? `#${test.index + 1}` : makeVisible(test.name)
  return `${name}  ${describeOutcome(test)}`
}

function describeOutcome(test: Omit<TestResult, 'stdout' | 'stderr'>): string {
  const { verdict, difference } = test
  if (verdict === null) return '–    not run'
  const remark = difference === null ? '' : `  ${describeDifference(difference)}`
  return `${verdict.padEnd(3)}  ${listFigures(test).join(', ')}${remark}`
}

/** Lists a run's CPU time, wall time and memory, as far as they are known. */
export function listFigures({
  cpu_time: cpu,
  wall_time: wall,
  memory_peak: peak,
}: Pick<Result, 'cpu_time' | 'wall_time' | 'memory_peak'>): string[] {
  return [
    ...(cpu === null ? [] : [`${cpu} s CPU`]),
    ...(wall === null ? [] : [`${wall} s`]),
    ...(peak === null ? [] : [describeMemory(peak)]),
  ]
}

/** Formats bytes: 10485760 becomes `10.0 MiB`. */
export function describeMemory(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}

/** Describes where an output differs from the expected one. */
export function describeDifference({ line, expected, got }: Difference): string {
  return `line ${line}: expected ${excerpt(expected)}, got ${excerpt(got)}`
}

function excerpt(text: string | null): string {
  if (text === null) return 'nothing'
  const rest = text.length > excerptCharacters ? '…' : ''
  return `"${makeVisible(text.slice(0, excerptCharacters))}${rest}"`
}
