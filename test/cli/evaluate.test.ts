// The command `evaluate`: benchmarks in their published formats on a real service, errors in a file, continuation after a
// kill, and that a fault of the service does not count as a failed sample.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { deflateSync } from 'node:zlib'
import t from 'tap'
import type { EndedItem } from '#client'
import { evaluate } from '../../src/cli/evaluate/evaluate.ts'
import type { EvaluateCall } from '../../src/cli/evaluate/evaluate.ts'
import { report } from '../../src/cli/evaluate/report.ts'
import { makeDirectory } from '../helper/directory.ts'
import { startFreshServer } from '../helper/server.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const server = await startFreshServer(t)
const { sql, url } = server
const apiKey = await server.issue()
const directory = makeDirectory(t)

const write = (name: string, lines: readonly (object | string)[]): string => {
  const file = join(directory, name)
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  writeFileSync(file, texts.join('\n'))
  return file
}

async function run(
  file: string,
  call: Partial<EvaluateCall> = {},
): Promise<{ status: number; out: Readonly<Record<string, unknown>> }> {
  let out = ''
  const place = { url: `http://127.0.0.1:${server.port}`, apiKey, items: 20, atOnce: 2 }
  const terminal = { stdout: { write: (text: string) => (out += text) }, stderr: { write: () => true } } // prettier-ignore
  const status = await evaluate({ file, ...place, ...call }, terminal)
  return { status, out: JSON.parse(out) as Readonly<Record<string, unknown>> }
}

const problem = {
  task_id: 'HumanEval/0',
  prompt: 'def double(n):\n    """Twice n."""\n',
  entry_point: 'double',
  canonical_solution: '    return 2 * n\n',
  test: 'def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(0) == 0\n',
}
const mbpp = {
  task_id: 11,
  text: 'Write a function to add.',
  code: 'def add(a, b):\n    return a + b',
  test_list: ['assert add(1, 2) == 3', 'assert add(ZERO, 0) == 0'],
  test_setup_code: 'ZERO = 0',
}
/** Packs a long list of tests as LiveCodeBench does: a deflated Python pickle of a string. */
function pack(tests: readonly object[]): string {
  const bytes = Buffer.from(JSON.stringify(tests))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  const frame = Buffer.alloc(8)
  frame.writeBigUInt64LE(BigInt(bytes.length + 7))
  const pickled = [Buffer.from([0x80, 4, 0x95]), frame, Buffer.from('X'), length, bytes, Buffer.from([0x94, 0x2e])] // prettier-ignore
  return deflateSync(Buffer.concat(pickled)).toString('base64')
}
const stdinProblem = {
  question_id: 'abc1',
  public_test_cases: JSON.stringify([{ input: '1 2\n', output: '3', testtype: 'stdin' }]),
  private_test_cases: pack([{ input: '0.5 0.5', output: '1.0\n', testtype: 'stdin' }]),
  metadata: '{}',
}
const callProblem = {
  question_id: 'lc1',
  public_test_cases: JSON.stringify([
    { input: '[3, 1]\n"é"', output: '[1, 3, "é", true, null]', testtype: 'functional' },
  ]),
  metadata: JSON.stringify({ func_name: 'order' }),
}
const sum = 'a, b = map(float, input().split())\nprint(a + b)'
const order = `class Solution:
    def order(self, numbers: List[int], word: str):
        return [*sorted(numbers), word, True, None]`
const plain = {
  task: 'echo',
  language: 'python',
  code: 'print(input())',
  tests: [{ stdin: 'one', expected_stdout: 'one\n' }],
}

t.test('a file with mistakes is refused by its lines, before anything is submitted', async (t) => {
  const file = write('wrong.jsonl', [
    problem,
    '{"task_id":',
    { a: 1 },
    '[]',
    { ...plain, tests: [] },
    { ...plain, code: 1 },
    { ...problem, test: 'other' },
    { ...stdinProblem, code_list: [sum], private_test_cases: 'AAAA' },
  ])
  const found = await evaluateError(file)
  for (const [line, message] of [
    [2, /is no JSON/],
    [3, /no shape that is known/],
    [4, /is no JSON object/],
    [5, /has no tests/],
    [6, /has no solution/],
    [7, /other tests than line 1/],
    [8, /./],
  ] as const) {
    const told = found.split('\n').find((text) => text.startsWith(`${file}:${line}: `))
    t.match(told, message, `line ${line}`)
  }
  const lines = found.split('\n').map((text) => Number(/:(\d+): /.exec(text)?.[1]))
  t.strictSame(lines, [2, 3, 4, 5, 6, 7, 8], 'in the order of the lines')
  const twice = write('twice.jsonl', [problem, problem])
  const samples = write('samples.jsonl', [{ task_id: 'HumanEval/0', completion: '' }, { task_id: 'none', completion: '' }]) // prettier-ignore
  const both = await evaluateError(samples, { problems: twice })
  t.match(both, /twice\.jsonl:2: the task HumanEval\/0 is there twice/)
  t.match(both, /samples\.jsonl:2: is of a task that is no problem: none/)
  t.match(await evaluateError(write('empty.jsonl', [''])), /nothing in it/)
  t.match(await evaluateError(join(directory, 'absent.jsonl')), /no such file/)
  t.equal((await sql`select from runledger.pending`).length, 0)
})

t.test('an address or a key that is wrong is said in a sentence', async (t) => {
  const file = write('one.jsonl', [plain])
  await t.rejects(run(file, { url: 'nonsense' }), { name: 'CommandError', status: 64 })
  await t.rejects(run(file, { apiKey: 'rl_live_wrong' }), { name: 'CommandError', status: 77 })
})

t.test('a report that cannot be written is refused before anything is submitted', async (t) => {
  const file = write('two.jsonl', [{ ...plain, task: 'no report' }])
  const there = join(directory, 'absent', 'report.json')
  const call = { report: there, apiKey: 'rl_live_wrong' }
  await t.rejects(run(file, call), { name: 'CommandError', status: 73 })
})

async function evaluateError(file: string, call: Partial<EvaluateCall> = {}): Promise<string> {
  try {
    await run(file, call)
    return 'nothing'
  } catch (error) {
    return (error as Error).message
  }
}

t.test('on a real service', async (t) => {
  await startWorkerProcess(t, url, { LANGUAGES: 'python' })

  await t.test('each shape: right solutions pass', async (t) => {
    const lines = [
      problem,
      mbpp,
      { ...stdinProblem, code_list: [sum] },
      { ...callProblem, code_list: [order] },
      plain,
    ]
    const { status, out } = await run(write('right.jsonl', lines))
    t.equal(status, 0)
    t.match(out, { tasks: 5, samples: 5, passed: 5, not_judged: 0, pass_at: { 1: 1 } })
  })

  await t.test('wrong ones do not, and the report says where and why', async (t) => {
    const file = write('faulty.jsonl', [
      { ...problem, completion: '    return 3 * n\n' },
      { ...mbpp, completion: 'def add(a, b):\n    return a - b' },
      { ...stdinProblem, code_list: [sum, 'print(3)', 'while True: pass'] },
      { ...callProblem, code_list: [order.replace('sorted', 'list')] },
      { ...plain, code: 'print(1' },
    ])
    const reportFile = join(directory, 'report.json')
    const { status, out } = await run(file, { report: reportFile })
    t.equal(status, 0)
    t.match(out, { tasks: 5, samples: 7, passed: 1, pass_at: { 1: 0.0667 } })
    const { results } = JSON.parse(readFileSync(reportFile, 'utf8')) as { results: object[] }
    t.match(results, [
      { line: 1, task: 'HumanEval/0', sample: 0, verdict: 'RE', fault: 'program', message: /AssertionError/ },
      { line: 2, task: '11', verdict: 'RE' },
      { line: 3, task: 'abc1', sample: 0, verdict: 'AC', fault: null },
      { line: 3, task: 'abc1', sample: 1, verdict: 'WA' },
      { line: 3, task: 'abc1', sample: 2, verdict: 'TLE', limit: /time/ },
      { line: 4, task: 'lc1', verdict: 'WA' },
      { line: 5, task: 'echo', verdict: 'RE', message: /SyntaxError|never closed/ },
    ]) // prettier-ignore
  })

  await t.test('called again it runs nothing twice', async (t) => {
    const [before] = await sql`select count(*)::integer as count from runledger.result`
    const { out } = await run(join(directory, 'right.jsonl'))
    t.match(out, { samples: 5, passed: 5 })
    const [after] = await sql`select count(*)::integer as count from runledger.result`
    t.strictSame(after, before)
  })

  await t.test('the service goes away in the middle, and comes back', async (t) => {
    const way = await startTcpProxy(`http://127.0.0.1:${server.port}`)
    t.teardown(() => way.close())
    const code = 'import time; time.sleep(0.3); print(input())'
    const samples = Array.from({ length: 12 }, (_, n) => ({ ...plain, task: `away ${n}`, code: `${code} # ${n}`, tag: 'away' })) // prettier-ignore
    const countEnded = async (): Promise<number> =>
      (await sql`select from runledger.result where tag = 'away'`).length
    const away = (async () => {
      while ((await countEnded()) === 0) await sleep(20)
      await way.stop()
      await sleep(5000)
      await way.restore()
    })()
    const { status, out } = await run(write('away.jsonl', samples), { url: way.url, items: 4 })
    await away
    t.equal(status, 0)
    t.match(out, { samples: 12, passed: 12, not_judged: 0 })
    t.equal(await countEnded(), 12, 'nothing ran twice')
  })

  await t.test('an item that the service refuses is not judged', async (t) => {
    const { status, out } = await run(write('refused.jsonl', [plain, { ...plain, language: 'latin' }])) // prettier-ignore
    t.equal(status, 1)
    t.match(out, { samples: 2, passed: 1, not_judged: 1, pass_at: { 1: 1 } })
  })
})

t.test('pass@k is the mean over tasks, without bias', async (t) => {
  const end = (task: string, number: number, verdict: string | null) => ({
    sample: { line: 1, task, number, request: plain },
    end: { index: 0, id: 'x', status: 'completed', verdict, fault: verdict === 'AC' ? null : verdict === null ? 'platform' : 'program' } as unknown as EndedItem, // prettier-ignore
  })
  const some = (task: string, passing: number, of: number) =>
    Array.from({ length: of }, (_, n) => end(task, n, n < passing ? 'AC' : 'WA'))
  const { pass_at: passAt } = report([...some('a', 1, 5), ...some('b', 5, 5)])
  t.match(passAt, { 1: 0.6, 5: 1 })
  const lost = report([...some('a', 1, 2), end('a', 2, null)])
  t.match(lost, { not_judged: 1, pass_at: { 1: 0.5 } }, 'the service’s fault does not count')
  const unknown = report([...some('a', 1, 1), end('b', 0, null)])
  t.strictSame(unknown.pass_at, {}, 'a task without a judged sample')
  t.strictSame(report([end('a', 0, null)]).pass_at, {})
})
