// The record of an execution: its verdict, its hashes, the compiler's messages. A worker judges large outputs in a thread, and
// a failure of the thread is never a verdict. An event's facts about tests are kept short, because the log keeps them for ever.
import t from 'tap'
import type { CheckThread } from '#checker'
import { digestBody } from '#event'
import type { TestFacts } from '#event'
import type { Outcome, Phase } from '#executor'
import { describeOutcome, shortenFacts } from '../../../src/job/execute/completion.ts'
import type { Completion } from '../../../src/job/execute/completion.ts'
import { judgeOutput } from '../../../src/job/execute/verdict.ts'
import { describePhase, failsAt } from '../../helper/executor.ts'

/** What came of an attempt beside its outcome. */
const withoutTests = { tests: null, asksFiles: false, wasStopped: false, blobs: undefined, slotSeconds: 0 } // prettier-ignore

const describe = (outcome: Outcome, stdout: Uint8Array | null = null): Promise<Completion> => {
  const expected = { stdout, checker: undefined }
  return describeOutcome({ ...withoutTests, outcome, expected }, false)
}

/** Returns a run that ended well and wrote nothing, except for the given facts. */
const ranAs = (facts: Partial<Phase> = {}): Outcome => ({
  compile: null,
  compileCached: false,
  run: describePhase(facts),
})

t.test('for how long a run was not let run is told when that was seen', async (t) => {
  const usage = { cpuSeconds: 0.5, wallSeconds: 2, memoryPeakBytes: 4096 }
  const told = async (delaySeconds: object): Promise<unknown> => {
    const outcome = ranAs({ usage: { ...usage, ...delaySeconds } })
    const { data } = await describe(outcome)
    return [data.verdict, data.run?.delay_seconds]
  }
  t.strictSame(await told({ delaySeconds: 1.25 }), ['AC', 1.25])
  t.strictSame(await told({}), ['AC', undefined])
})

t.test('the end decides before the output does', async (t) => {
  for (const [facts, verdict] of [
    [{}, 'AC'],
    [{ exitCode: 1 }, 'RE'],
    [{ ending: 'signaled', exitCode: 139, signal: 'SIGSEGV' }, 'RE'],
    [{ ending: 'memory_limit' }, 'MLE'],
    [{ ending: 'cpu_limit' }, 'TLE'],
    [{ ending: 'wall_limit' }, 'TLE'],
    [{ ending: 'total_limit' }, 'TLE'],
    [{ ending: 'output_limit' }, 'OLE'],
  ] as const) {
    const outcome = ranAs({ stdout: Buffer.from('1'), ...facts })
    for (const expected of [null, Buffer.from('1')]) {
      const { data } = await describe(outcome, expected)
      t.equal(data.verdict, verdict, JSON.stringify(facts))
    }
  }
})

t.test('an output is compared with the expected one as the checker `lines` does', async (t) => {
  for (const [actual, verdict] of [
    ['1 \t\n2\n\n', 'AC'],
    ['1\n\n2', 'WA'],
  ] as const) {
    const outcome = ranAs({ stdout: Buffer.from(actual) })
    const { data } = await describe(outcome, Buffer.from('1\n2'))
    t.equal(data.verdict, verdict)
  }
})

t.test('each output is described by its own size and hash', async (t) => {
  const [stdout, stderr] = [Buffer.from('out'), Buffer.from('error')]
  const outcome = ranAs({ stdout, stderr, stderrTruncated: true })
  const { data } = await describe(outcome)
  t.strictSame(data.stdout, { ...digestBody(stdout), truncated: false })
  t.strictSame(data.stderr, { ...digestBody(stderr), truncated: true })
})

t.test('a compiler that passed a limit says which, after its own words', async (t) => {
  for (const [ending, limit] of [
    ['memory_limit', 'memory'],
    ['cpu_limit', 'CPU time'],
    ['wall_limit', 'wall time'],
    ['output_limit', 'output'],
  ] as const) {
    const compile = describePhase({ ending, stderr: Buffer.from('words') })
    const ended = { compile, compileCached: false, run: null }
    const outcome = await describe(ended)
    t.equal(outcome.data.verdict, 'CE')
    t.equal(String(outcome.compileOutput), `words\n[the compiler passed its ${limit} limit]\n`)
  }
})

const lines = { type: 'lines' } as const
const half = 128 * 1024
const broken: CheckThread = { check: () => Promise.reject(new Error('it has gone')) }

t.test('neither a small output nor one that is what was expected needs a thread', async (t) => {
  const [output, expected] = [Buffer.alloc(half, 'x'), Buffer.alloc(half, 'y')]
  t.match(await judgeOutput(lines, output, expected, undefined, broken), { same: false })
  const large = Buffer.alloc(16 * half, 'x')
  const verdict = await judgeOutput(lines, large, Buffer.from(large), undefined, broken)
  t.strictSame(verdict, { same: true })
})

t.test('any other is judged by the thread, whose failure is ours', async (t) => {
  const [output, expected] = [Buffer.alloc(half, 'x'), Buffer.alloc(half + 1, 'x')]
  const judged = judgeOutput(lines, output, expected, undefined, broken)
  await t.rejects(judged, failsAt('checker.thread', /gone/))
  t.match(await judgeOutput(lines, output, expected), { same: false })
  const [spaced, plain] = [Buffer.from('x \n'.repeat(half)), Buffer.from('x\n'.repeat(half))]
  t.strictSame(await judgeOutput(lines, spaced, plain), { same: true })
})

t.test('who may wait no longer is told why, whatever becomes of the thread', async (t) => {
  const [output, expected] = [Buffer.alloc(half, 'x'), Buffer.alloc(half + 1, 'x')]
  const reason = new Error('the worker ends')
  const waiting: CheckThread = {
    check: (_checker, _output, _expected, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('it was ended')))
        end.abort(reason)
      }),
  }
  const end = new AbortController()
  await t.rejects(judgeOutput(lines, output, expected, end.signal, waiting), reason)
})

const large = { ...digestBody(Buffer.alloc(4_000_000)), truncated: true }
const long: TestFacts = {
  verdict: 'TLE',
  ending: 'output_limit',
  exit_code: 137,
  signal: 'SIGVTALRM',
  cpu_time: 12.345678,
  wall_time: 12.345678,
  memory_peak: 2_147_483_648,
  limit: 'wall_time',
  stdout: large,
  stderr: large,
}
const short: TestFacts = { verdict: null }

// The size as PostgreSQL formats jsonb, with a space after each comma and colon.
const sizeOf = (facts: readonly TestFacts[]): number =>
  JSON.stringify(facts).replaceAll(/[,:]/g, '$& ').length

t.test('of few tests all is said, of many the verdict of each', async (t) => {
  const few = [long, short, long]
  t.strictSame(shortenFacts(few), few)
  const many = Array.from({ length: 200 }, () => long)
  const said = shortenFacts(many)
  t.ok(sizeOf(said) <= 6000, `${sizeOf(said)} of ${sizeOf(many)} bytes`)
  t.strictSame([said[0], said[199], said.length], [long, { verdict: 'TLE' }, 200])
  const stopped = [long, ...Array.from({ length: 199 }, () => short)]
  t.strictSame(shortenFacts(stopped), stopped)
})

t.test('it is all of the first ones: none that is shorter overtakes', async (t) => {
  const facts = Array.from({ length: 50 }, (_, index): TestFacts =>
    index % 2 === 0 ? long : { ...long, ending: 'x', signal: null },
  )
  const said = shortenFacts(facts)
  const whole = said.findLastIndex((test) => 'ending' in test) + 1
  t.ok(whole > 0 && whole < 50)
  t.strictSame(said.slice(0, whole), facts.slice(0, whole))
})
