// Judges the tests of a submission as they run, and keeps a report of each, with a part of its outputs at most.
import { unlessAborted } from '#abort'
import type { TestFacts, Verdict } from '#event'
import type { Execute, Phase, RunInput, Runs } from '#executor'
import type { Options, TestOption } from '#options'
import { keptOutputBytes } from '#report'
import type { TestReport } from '#report'
import { judgeByProgram, judgeInteraction } from './program-checker.ts'
import type { CheckerJudgement } from './program-checker.ts'
import { isSkipped, scoreTests } from './score.ts'
import type { Score } from './score.ts'
import { digestOutput, factsOf, judgeEnd, judgeRun, nothingBut } from './verdict.ts'
import type { Judged } from './verdict.ts'

/** The most bytes kept of all tests' outputs together. */
const outputsBytesMost = 1024 * 1024

/** The report of a test that was not run. */
const notRun: Omit<TestReport, 'name'> = {
  verdict: null,
  exit_code: null,
  signal: null,
  cpu_time: null,
  wall_time: null,
  memory_peak: null,
  stdout: null,
  stderr: null,
  stdout_truncated: null,
  stderr_truncated: null,
  limit: null,
  difference: null,
  message: null,
}

/** The tests that the executor runs, and their results so far. */
export interface JudgedTests extends Runs {
  /** The first test that is not accepted, or else the first test; null before a test has run. */
  readonly decisive: (Judged & { readonly run: Phase }) | null
  /** The run that was stopped; null when none was. */
  readonly stopped: Phase | null
  /** The highest figures of all tests, as events spell them. */
  readonly most: {
    readonly cpu_time: number
    readonly wall_time: number
    readonly memory_peak: number
  }
  /** One for each test of the request. */
  readonly facts: readonly TestFacts[]
  readonly reports: readonly TestReport[]
  /** Null when neither tests nor groups have points. */
  readonly score: Score | null
}

/** Returns what the request gives, or, if it names a blob in place of that, the blob's bytes. */
export type ReadBlob = <Given>(
  given: Given,
  blob: string | undefined,
) => Promise<Given | Uint8Array>

interface TestPlan {
  readonly options: Options
  /** The account for which compiled checkers are kept. */
  readonly scope: string
  readonly readBlob: ReadBlob
  /** Fires when the submission is cancelled. Also ends the wait for blobs and for a check. */
  readonly stop: AbortSignal
  /** Fires like `stop`, and when the worker must not go on. Ends a check. */
  readonly signal: AbortSignal
}

interface JudgedTest extends Judged {
  /** The checker's or interactor's message. */
  readonly message: string | null
}

export function judgeTests(
  tests: readonly TestOption[],
  { options, scope, readBlob, stop, signal }: TestPlan,
): JudgedTests {
  const { groups, checker, stdin_encoding: encoding = 'utf8' } = options
  // Then no test runs after the first one that is not accepted; with groups, no test of the same group. In any case none runs
  // once the submission's total time is used up.
  const stopsOnFailure = options.stop_on_failure === true
  const facts = tests.map((): TestFacts => ({ verdict: null }))
  const reports = tests.map(({ name = null }): TestReport => ({ name, ...notRun }))
  const most = { cpu_time: 0, wall_time: 0, memory_peak: 0 }
  let decisive: JudgedTests['decisive'] = null
  let stopped: Phase | null = null
  let room = outputsBytesMost
  let ofChecker: CheckerJudgement | null = null
  /** The index of the test that is under way. */
  let current = -1
  let stdin: Uint8Array = new Uint8Array()
  const verdicts = (): (Verdict | null)[] => facts.map(({ verdict }) => verdict)

  /** Null when any output is accepted; undefined when the submission was cancelled. */
  async function readExpected(test: TestOption): Promise<Uint8Array | null | undefined> {
    const { expected_stdout: text, expected_stdout_sha256: blob } = test
    const given = text === undefined ? null : Buffer.from(text)
    return unlessAborted(readBlob(given, blob), stop)
  }

  async function* readInputs(): AsyncGenerator<RunInput> {
    for (const [index, test] of tests.entries()) {
      if (groups && isSkipped({ tests, groups }, index, verdicts(), stopsOnFailure)) continue
      const text = Buffer.from(test.stdin ?? '', encoding)
      const input = await unlessAborted(readBlob(text, test.stdin_sha256), stop)
      if (input === undefined) return
      stdin = input
      current = index
      const given = test.args && { arguments: test.args }
      if (options.interactor === undefined) {
        yield { stdin, ...given }
        continue
      }
      const answer = await readExpected(test)
      if (answer === undefined) return
      yield { stdin: new Uint8Array(), interactor: describeFiles(input, answer), ...given }
    }
  }

  const keep = (output: Uint8Array): Uint8Array => {
    const kept = output.subarray(0, Math.min(keptOutputBytes, room))
    room -= kept.length
    // Copied, so that the rest of the output is not kept in memory.
    return new Uint8Array(kept)
  }

  async function judge(run: Phase, test: TestOption, execute: Execute): Promise<JudgedTest> {
    if (run.interactor !== undefined) {
      const isStopped = [run, run.interactor.phase].some(({ ending }) => ending === 'cancelled')
      if (stop.aborted && isStopped) return { ...nothingBut(null), message: null }
      return judgeInteraction(run, run.interactor)
    }
    const ended = judgeEnd(run)
    if (ended !== null) return { ...ended, message: null }
    const expectedStdout = await readExpected(test)
    if (expectedStdout === undefined) return { ...nothingBut(null), message: null }
    if (checker?.type !== 'program') {
      const judged = judgeRun(run, { stdout: expectedStdout, checker, signal })
      return { ...((await unlessAborted(judged, stop)) ?? nothingBut(null)), message: null }
    }
    // A compilation that a limit ended is not cached, so it would be repeated for each test.
    if (ofChecker?.isForAll !== true)
      ofChecker = await judgeByProgram(checker, { stdin, expectedStdout }, run, scope, execute)
    const { verdict } = ofChecker
    const limit = verdict === 'TLE' ? 'total_time' : null
    return { ...nothingBut(verdict), limit, message: ofChecker.message }
  }

  async function onRun(run: Phase, _: number, execute: Execute): Promise<boolean> {
    const test = tests[current]
    if (test === undefined) return false
    const judged = await judge(run, test, execute)
    const { verdict, limit, difference, message } = judged
    if (verdict === null) {
      stopped = run
      return false
    }
    if (decisive === null || (decisive.verdict === 'AC' && verdict !== 'AC'))
      decisive = { ...judged, run }
    const ended = factsOf(run)
    for (const figure of ['cpu_time', 'wall_time', 'memory_peak'] as const)
      most[figure] = Math.max(most[figure], ended[figure])
    facts[current] = {
      verdict,
      ...ended,
      ...(limit !== null && { limit }),
      stdout: digestOutput(run.stdout, run.stdoutTruncated),
      stderr: digestOutput(run.stderr, run.stderrTruncated),
    }
    const stdout = keep(run.stdout)
    const stderr = keep(run.stderr)
    const { ending: _ending, delay_seconds: _delay, ...figures } = ended
    reports[current] = {
      name: test.name ?? null,
      verdict,
      ...figures,
      stdout,
      stderr,
      stdout_truncated: run.stdoutTruncated || stdout.length < run.stdout.length,
      stderr_truncated: run.stderrTruncated || stderr.length < run.stderr.length,
      limit,
      difference,
      message,
    }
    if (current === tests.length - 1 || run.interactor?.isCompiler === true) return false
    return limit !== 'total_time' && (verdict === 'AC' || !stopsOnFailure || groups !== undefined)
  }

  return {
    inputs: readInputs(),
    onRun,
    get decisive() {
      return decisive
    },
    get stopped() {
      return stopped
    },
    most,
    facts,
    reports,
    get score() {
      return scoreTests({ tests, groups }, verdicts())
    },
  }
}

/** Describes an interactor's files and arguments, as testlib calls it. What it writes to `output` is dropped. */
function describeFiles(
  input: Uint8Array,
  answer: Uint8Array | null,
): NonNullable<RunInput['interactor']> {
  const given = { input, answer: answer ?? new Uint8Array() }
  return {
    runFiles: Object.entries(given).map(([name, content]) => ({ name, content })),
    arguments: ['input', 'output', 'answer'],
  }
}
