// The record of an execution: its verdict, its hashes, the compiler's messages. Outputs are compared as judges do it, in a
// time that no program's output can stretch.
import t from 'tap'
import { digestBody } from '#event'
import type { Outcome, Phase } from '#executor'
import { describeOutcome } from '../../../src/job/execute/completion.ts'
import type { Expectation } from '../../../src/job/execute/verdict.ts'

const expecting = (stdout: Uint8Array | null): Expectation => ({ stdout, checker: undefined })

/** Returns a run that ended well and wrote nothing, except for the given facts. */
function ranAs(facts: Partial<Phase> = {}): Outcome {
  const run: Phase = {
    ending: 'exited',
    exitCode: 0,
    signal: null,
    stdout: Buffer.alloc(0),
    stderr: Buffer.alloc(0),
    stdoutTruncated: false,
    stderrTruncated: false,
    usage: { cpuSeconds: 0, wallSeconds: 0, memoryPeakBytes: 0 },
    ...facts,
  }
  return { compile: null, compileCached: false, run }
}

async function judge(actual: string, expected: string): Promise<string | null> {
  const outcome = ranAs({ stdout: Buffer.from(actual, 'latin1') })
  return (await describeOutcome(outcome, expecting(Buffer.from(expected, 'latin1')))).data.verdict
}

t.test('for how long a run was not let run is told when that was seen', async (t) => {
  const usage = { cpuSeconds: 0.5, wallSeconds: 2, memoryPeakBytes: 4096 }
  const told = async (delaySeconds: object): Promise<unknown> => {
    const outcome = ranAs({ usage: { ...usage, ...delaySeconds } })
    const { data } = await describeOutcome(outcome, expecting(null))
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
      t.equal(
        (await describeOutcome(outcome, expecting(expected))).data.verdict,
        verdict,
        JSON.stringify(facts),
      )
    }
  }
})

t.test('each output is described by its own size and hash', async (t) => {
  const [stdout, stderr] = [Buffer.from('out'), Buffer.from('error')]
  const { data } = await describeOutcome(
    ranAs({ stdout, stderr, stderrTruncated: true }),
    expecting(null),
  )
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
    const { run: compile } = ranAs({ ending, stderr: Buffer.from('words') })
    const outcome = await describeOutcome(
      { compile, compileCached: false, run: null },
      expecting(null),
    )
    t.equal(outcome.data.verdict, 'CE')
    t.equal(String(outcome.compileOutput), `words\n[the compiler passed its ${limit} limit]\n`)
  }
})

t.test('white space at line ends and empty lines at the end do not count', async (t) => {
  for (const [actual, expected] of [
    ['1\n', '1'],
    ['1', '1\n\n\n'],
    ['1 \t\r\f\v\n2', '1\n2\r\n'],
    ['', '\n \n\t'],
    ['a\n\nb\n', 'a\n \nb'],
    ['\xff\n', '\xff'],
  ] as const) {
    t.equal(await judge(actual, expected), 'AC', JSON.stringify([actual, expected]))
    t.equal(await judge(expected, actual), 'AC', JSON.stringify([expected, actual]))
  }
})

t.test('everything else does', async (t) => {
  for (const [actual, expected] of [
    ['1', '2'],
    [' 1', '1'],
    ['1  2', '1 2'],
    ['\n1', '1'],
    ['1\n\n2', '1\n2'],
    ['a', 'A'],
    ['\xff', '\xef\xbf\xbd'],
    ['1\0', '1'],
    ['', '1'],
  ] as const) {
    t.equal(await judge(actual, expected), 'WA', JSON.stringify([actual, expected]))
    t.equal(await judge(expected, actual), 'WA', JSON.stringify([expected, actual]))
  }
})

t.test('a mebibyte of blanks is judged in no more than a moment', async (t) => {
  for (const blank of [' ', '\n', '\r', ' \n', '\t ']) {
    const output = `${blank.repeat(2 ** 20 / blank.length)}x`
    // A comparison that backtracks over the blanks takes minutes, and blocks the whole worker meanwhile.
    t.equal(await judge(output, 'x'), 'WA')
    t.equal(await judge(output, output), 'AC')
  }
})
