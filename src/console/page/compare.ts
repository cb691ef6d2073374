// Compares a rerun with the original. It is the same program on today's toolchain, so every difference is of interest.
import type { Difference, Result, TestResult } from '#client'
import { formatBytes, formatSeconds, nameOutcome, nameTest, verdictNames } from './format.ts'
import { cut } from './visible.ts'

/** One property of both submissions. */
export interface Pair {
  readonly label: string
  readonly first: string
  readonly now: string
  /** The relative change, such as `+12 %`; null when the values are not numbers or the first one is zero. */
  readonly change: string | null
  /** Always false for times and memory, which vary. */
  readonly differs: boolean
}

/** An output from the point where both differ: `expected` is the original's, `got` the rerun's. */
export interface OutputChange {
  readonly label: string
  readonly difference: Difference
}

export interface Comparison {
  readonly pairs: readonly Pair[]
  readonly outputs: readonly OutputChange[]
  /** One of them has no outputs any more, so outputs are not compared. */
  readonly isPurged: boolean
}

const shownCharacters = 200
/** How many characters are shown before the first difference. */
const contextCharacters = 40

/** @param isJudged an output was expected. */
export function compare(first: Result, now: Result, isJudged = true): Comparison {
  const isPurged = first.purged_at !== null || now.purged_at !== null
  return {
    pairs: [
      ...pairTexts('Outcome', nameOutcome(first, isJudged).word, nameOutcome(now, isJudged).word),
      ...pairTexts('Ended with', describeEnding(first), describeEnding(now)),
      ...pairTexts('Runtime', first.runtime ?? '', now.runtime ?? ''),
      ...pairFigures('CPU time', first.cpu_time, now.cpu_time, formatSeconds),
      ...pairFigures('Time', first.wall_time, now.wall_time, formatSeconds),
      ...pairFigures('Memory', first.memory_peak, now.memory_peak, formatBytes),
      ...pairTests(first.tests ?? [], now.tests ?? []),
      ...(isPurged ? [] : pairFiles(first, now)),
    ],
    outputs: isPurged ? [] : compareOutputs(first, now),
    isPurged,
  }
}

/** Pairs two texts; empty when both are empty. */
function pairTexts(label: string, first: string, now: string): Pair[] {
  if (first === '' && now === '') return []
  return [{ label, first, now, change: null, differs: first !== now }]
}

function pairFigures(
  label: string,
  first: number | null,
  now: number | null,
  format: (figure: number) => string,
): Pair[] {
  if (first === null || now === null) return []
  const part = first > 0 ? Math.round((now / first - 1) * 100) : null
  const sign = part === null || part === 0 ? '' : part > 0 ? '+' : '−'
  const change = part === null ? null : `${sign}${Math.abs(part)} %`
  return [{ label, first: format(first), now: format(now), change, differs: false }]
}

function describeEnding({ exit_code: code, signal }: Result): string {
  if (signal !== null) return signal
  return code === null ? '' : `exit code ${code}`
}

function pairTests(first: readonly TestResult[], now: readonly TestResult[]): Pair[] {
  return now.flatMap((test, index) => {
    const [before, after] = [nameVerdict(first[index]), nameVerdict(test)]
    return before === after ? [] : pairTexts(labelTest(test, index), before, after)
  })
}

function labelTest({ name }: TestResult, index: number): string {
  return `Test ${nameTest(name, index)}`
}

function nameVerdict(test: TestResult | undefined): string {
  const verdict = test?.verdict ?? null
  return verdict === null ? 'Not run' : verdictNames[verdict]
}

function pairFiles(first: Result, now: Result): Pair[] {
  const [before, after] = [first, now].map(
    ({ files }) => new Map(files?.map((file) => [file.name, file])),
  )
  const names = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])
  return [...names].flatMap((name) => {
    const [one, other] = [before?.get(name), after?.get(name)]
    if (one?.sha256 === other?.sha256 && one?.size === other?.size) return []
    return pairTexts(`File ${name}`, describeFile(one), describeFile(other))
  })
}

function describeFile(file: { size: number; sha256: string | null } | undefined): string {
  if (file === undefined) return 'not there'
  return `${formatBytes(file.size)}, ${file.sha256?.slice(0, 12) ?? 'not kept'}`
}

function compareOutputs(first: Result, now: Result): OutputChange[] {
  const tests = (now.tests ?? []).flatMap((test, index) =>
    compareTexts(`stdout of ${labelTest(test, index)}`, first.tests?.[index]?.stdout, test.stdout),
  )
  return [
    ...compareTexts('Compiler', first.compile_output, now.compile_output),
    // With tests, stdout and stderr of the record are those of one of the tests.
    ...(now.tests === null ? compareTexts('stdout', first.stdout, now.stdout) : tests),
    ...(now.tests === null ? compareTexts('stderr', first.stderr, now.stderr) : []),
  ]
}

function compareTexts(
  label: string,
  first: string | null | undefined,
  now: string | null,
): OutputChange[] {
  const difference = findDifference(first ?? '', now ?? '')
  return difference === null ? [] : [{ label, difference }]
}

/** Finds the first line that differs, and shortens long lines to the part that differs. Takes time linear in the texts. */
export function findDifference(first: string, now: string): Difference | null {
  if (first === now) return null
  const [before, after] = [first.split('\n'), now.split('\n')]
  const found = before.findIndex((line, index) => line !== after[index])
  const index = found < 0 ? before.length : found
  const [expected, got] = [before[index] ?? null, after[index] ?? null]
  const from = Math.max(0, commonStart(expected ?? '', got ?? '') - contextCharacters)
  const shorten = (line: string | null): string | null =>
    line === null ? null : `${from > 0 ? '…' : ''}${cut(line.slice(from), shownCharacters)}`
  return { line: index + 1, expected: shorten(expected), got: shorten(got) }
}

/** Counts the characters with which both texts begin, and never splits a surrogate pair. */
export function commonStart(one: string, other: string): number {
  let end = 0
  while (end < one.length && end < other.length && one[end] === other[end]) end += 1
  return cut(one, end).length
}
