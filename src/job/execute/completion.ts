// Describes a submission's completion: the event's data and the bodies beside it. Events are kept forever, so they
// are bounded: an event has all facts of the first tests, and the verdicts of the others. The report, a body that is purged
// with age, has the result of each.
import { digestBody } from '#event'
import type { EventData, LeftFile, OutputDigest, TestFacts, Verdict } from '#event'
import type { Ending, Outcome, Phase } from '#executor'
import { cutBetweenCharacters, encodeReport, reportFiles } from '#report'
import type { FileReport, TestReport } from '#report'
import type { Finished } from './run-attempt.ts'
import type { JudgedTests } from './tests.ts'
import { digestOutput, factsOf, judgeRun, nothingBut } from './verdict.ts'
import type { Expectation, Judged } from './verdict.ts'

/** The event's data and its bodies. */
export interface Completion {
  readonly data: Omit<EventData['execution.completed'], 'verdict'> & {
    /** Null when the submission was stopped. */
    readonly verdict: Verdict | null
  }
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** Null for a language without a compiler. */
  readonly compileOutput: Uint8Array | null
  /** Null when there is nothing to report beside the outputs. */
  readonly report: Uint8Array | null
}

const nothing = new Uint8Array()
/** Bytes kept of each output, and of all tests' outputs together, of an account whose quota is used up. */
const leastBytes = 4096
/** The most bytes of an event's tests. With its other data the event has 8 KB at most. */
const testsBytesMost = 6000

/** The run that gave the verdict; null when the program did not compile. */
interface Decision extends Judged {
  readonly run: Phase | null
}

/**
 * Describes an outcome. The verdict is that of the whole output.
 * @param isShort the account has used up its quota of the day (output-quota.ts): only the beginning of outputs is kept.
 * @throws the errors of `judgeOutput`.
 */
export async function describeOutcome(
  { outcome, tests, expected, blobs, asksFiles, wasStopped, slotSeconds }: Finished,
  isShort: boolean,
): Promise<Completion> {
  const { compile } = outcome
  const { verdict, limit, difference, run } = wasStopped
    ? { ...nothingBut(null), run: tests?.stopped ?? tests?.decisive?.run ?? outcome.run }
    : await decide(outcome, expected, tests)
  const most = isShort ? leastBytes : Infinity
  const stdout = keepOutput(run?.stdout ?? nothing, run?.stdoutTruncated ?? false, most)
  const stderr = keepOutput(run?.stderr ?? nothing, run?.stderrTruncated ?? false, most)
  const compileOutput =
    compile && keepOutput(explainCompile(compile), compile.stderrTruncated, most)
  const left = asksFiles ? (run?.outputFiles ?? []) : null
  // The contents of files are dropped, as if they did not fit.
  const files =
    left && reportFiles(isShort ? left.map((file) => ({ ...file, content: null })) : left)
  const facts = tests && shortenFacts(tests.facts)
  const { groups = null, ...score } = (wasStopped ? null : tests?.score) ?? {}
  const report = encodeReport({
    difference,
    tests: tests && (isShort ? shortenReports(tests.reports) : tests.reports),
    files,
    ...(groups && { groups }),
  })
  return {
    data: {
      verdict,
      exit_code: run?.exitCode ?? null,
      signal: run?.signal ?? null,
      compile: compile === null ? null : { ...factsOf(compile), cached: outcome.compileCached },
      run: run === null ? null : { ...factsOf(run), ...tests?.most },
      stdout: stdout.digest,
      stderr: stderr.digest,
      compile_output: compileOutput && compileOutput.digest,
      ...(limit !== null && { limit }),
      ...score,
      ...(report !== null && { report: digestBody(report) }),
      ...(facts !== null && { tests: facts }),
      ...(files !== null && { files: files.map(digestFile) }),
      ...(blobs && { blobs }),
      slot_seconds: slotSeconds,
    },
    stdout: stdout.kept,
    stderr: stderr.kept,
    compileOutput: compileOutput && compileOutput.kept,
    report,
  }
}

export function countBodies(bodies: Omit<Completion, 'data'>): number {
  return Object.values(bodies).reduce((sum, body) => sum + (body?.byteLength ?? 0), 0)
}

/** Keeps the beginning of an output. @param wasCut true when the program wrote more than the output has. */
function keepOutput(
  output: Uint8Array,
  wasCut: boolean,
  most: number,
): { readonly kept: Uint8Array; readonly digest: OutputDigest } {
  const kept = output.subarray(0, most)
  return { kept, digest: digestOutput(kept, wasCut || kept.length < output.length) }
}

function shortenReports(reports: readonly TestReport[]): TestReport[] {
  const left = { stdout: leastBytes, stderr: leastBytes }
  return reports.map((test) => {
    const short = { ...test }
    for (const name of ['stdout', 'stderr'] as const) {
      const output = test[name]
      // The test was not run.
      if (output === null) continue
      const kept = output.subarray(0, left[name])
      left[name] -= kept.length
      short[name] = kept
      short[`${name}_truncated`] ||= kept.length < output.length
    }
    return short
  })
}

/** Bounds the bytes of all facts together. @returns the same number of facts, in their order. */
export function shortenFacts(facts: readonly TestFacts[]): readonly TestFacts[] {
  const short = facts.map(({ verdict }): TestFacts => ({ verdict }))
  let left = testsBytesMost - short.reduce((sum, test) => sum + countBytes(test), 0)
  return facts.map((test, index) => {
    const part = short[index] ?? test
    const more = countBytes(test) - countBytes(part)
    const fits = more <= left
    // After the first test that does not fit, no other is kept whole, even if it is shorter.
    left = fits ? left - more : 0
    return fits ? test : part
  })
}

/** Counts bytes as the database spells a test, with a space after each comma and colon. */
function countBytes(test: TestFacts): number {
  const text = JSON.stringify(test)
  return Buffer.byteLength(text) + (text.match(/[,:]/g)?.length ?? 0) + 2
}

function digestFile({ name, size, sha256 }: FileReport): LeftFile {
  return { name, bytes: size, ...(sha256 !== null && { sha256 }) }
}

async function decide(
  outcome: Outcome,
  expected: Expectation,
  tests: JudgedTests | null,
): Promise<Decision> {
  const { run } = outcome
  if (run === null) return { ...nothingBut('CE'), run }
  if (tests?.decisive) return tests.decisive
  return { ...(await judgeRun(run, expected)), run }
}

const limitNames: Partial<Record<Ending, string>> = {
  memory_limit: 'memory',
  cpu_limit: 'CPU time',
  wall_limit: 'wall time',
  total_limit: 'total time',
  output_limit: 'output',
}

function explainCompile(compile: Phase): Uint8Array {
  const limit = limitNames[compile.ending]
  const { stderr, stderrTruncated } = compile
  const messages = stderr.subarray(0, cutBetweenCharacters(stderr, stderr.length, !stderrTruncated))
  if (limit === undefined) return messages
  return Buffer.concat([messages, Buffer.from(`\n[the compiler passed its ${limit} limit]\n`)])
}
