// Submissions with tests: compiled once, run once for each test, judged by the requested checker; points and groups of tests;
// and the time of all tests together, which the key's tier bounds.
import t from 'tap'
import type { Issue } from '#error'
import { readStream } from '#event'
import { findBroken } from '../helper/ledger.ts'
import { checkMistakes, startFreshServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { openStream } from '../helper/stream.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { call, issue, port, sql, url } = await startFreshServer(t, { syncWaitSeconds: 300 })
await startWorkerProcess(t, url)

const mebibyte = 1024 * 1024
const run = (body: object): Promise<Answer> => call('POST', '/api/submit?wait=true', { body })
/** Submits what is refused. */
const submit = (body: object): Promise<Answer> =>
  call('POST', '/api/submit', { body: { language: 'python', code: '', ...body } })

const double = 'print(int(input()) * 2)'
const cases = [1, 2, 3].map((n) => ({ stdin: `${n}\n`, expected_stdout: `${2 * n}\n` }))
type Told = Readonly<Record<string, unknown>>
const pick = (body: { tests: Told[] }, field: string): unknown[] =>
  body.tests.map((one) => one[field])

t.test('each test has its own run, and the first in order that fails decides', async (t) => {
  const good = await run({ language: 'python', code: double, tests: cases })
  t.match(good.body, { verdict: 'AC', stdout: '2\n', exit_code: 0, difference: null })
  t.strictSame(pick(good.body, 'stdout'), ['2\n', '4\n', '6\n'])

  const { body } = await run({
    language: 'python',
    code: 'n = int(input())\nif n == 2: print("no")\nelif n == 3: 1 / 0\nelse: print(n * 2)',
    tests: cases.map((one, index) => ({ ...one, name: `case ${index}` })),
  })
  t.strictSame(pick(body, 'verdict'), ['AC', 'WA', 'RE'])
  t.strictSame(pick(body, 'name'), ['case 0', 'case 1', 'case 2'])
  t.strictSame(pick(body, 'difference'), [null, { line: 1, expected: '4', got: 'no' }, null])
  t.match(body, { verdict: 'WA', stdout: 'no\n', exit_code: 0, status: 'completed' })
  t.strictSame(body.difference, { line: 1, expected: '4', got: 'no' })
  t.equal(body.wall_time, Math.max(...(pick(body, 'wall_time') as number[])))
  t.equal(body.memory_peak, Math.max(...(pick(body, 'memory_peak') as number[])))
})

t.test('stop_on_failure leaves the tests after the first failure', async (t) => {
  const { body } = await run({
    language: 'python',
    code: 'n = int(input())\nprint(n * 2 if n != 2 else 0)',
    tests: cases,
    stop_on_failure: true,
  })
  t.strictSame(pick(body, 'verdict'), ['AC', 'WA', null])
  t.equal(body.tests[2].stdout, null)
})

t.test('a program is compiled once for all its tests, and its limits are each run’s', async (t) => {
  const { body } = await run({
    language: 'cpp',
    code: '#include <iostream>\nint main(int c, char **a) { int n; std::cin >> n; if (n == 2) for (;;); std::cout << n * 2 << a[1]; }',
    tests: [
      { stdin: '1', args: ['x'], expected_stdout: '2x' },
      { stdin: '2' },
      { stdin: '3', expected_stdout: '6y' },
    ],
    args: ['y'],
    limits: { cpu_time: 0.5 },
  })
  t.strictSame(pick(body, 'verdict'), ['AC', 'TLE', 'AC'])
  t.match(body, { verdict: 'TLE', limit: 'cpu_time', compile: { exit_code: 0 } })
  const { body: told } = await call('GET', `/api/result/${body.id}/events`)
  const ended = told.events.find(({ type }: { type: string }) => type === 'execution.completed')
  t.strictSame(pick(ended.data, 'verdict'), ['AC', 'TLE', 'AC'])
  t.equal(
    told.events.filter(({ type }: { type: string }) => type === 'execution.started').length,
    1,
  )
})

t.test('what is not compiled runs no test', async (t) => {
  const { body } = await run({ language: 'cpp', code: 'int main( {', tests: cases })
  t.match(body, { verdict: 'CE', exit_code: null })
  t.strictSame(pick(body, 'verdict'), [null, null, null])
})

t.test('no run finds anything of another', async (t) => {
  const code = 'import os\nfor p in ("/box/f", "/tmp/f"):\n  print(os.path.exists(p))\n  open(p, "w").write("x")' // prettier-ignore
  const { body } = await run({ language: 'python', code, tests: [{}, {}] })
  t.strictSame(pick(body, 'stdout'), ['False\nFalse\n', 'False\nFalse\n'])
})

t.test('checkers judge as they are named', async (t) => {
  const rows: [object, string, string, string][] = [
    [{ type: 'lines' }, 'a \nb\n\n', 'a\nb', 'AC'],
    [{ type: 'exact' }, 'a\n', 'a', 'WA'],
    [{ type: 'exact' }, 'a\n', 'a\n', 'AC'],
    [{ type: 'tokens' }, 'a   b\nc', 'a b c', 'AC'],
    [{ type: 'unordered_lines' }, 'b\na\n', 'a\nb\n', 'AC'],
    [{ type: 'unordered_lines' }, 'b\nb\n', 'a\nb\n', 'WA'],
    [{ type: 'floats', absolute: 0.01 }, '0.333 x', '0.3333 x', 'AC'],
    [{ type: 'floats', relative: 1e-6 }, '0.333', '0.3333', 'WA'],
  ]
  for (const [checker, output, expected, verdict] of rows) {
    const { body } = await run({
      language: 'python',
      code: `print(${JSON.stringify(output)}, end="")`,
      expected_stdout: expected,
      checker,
    })
    t.equal(body.verdict, verdict, JSON.stringify([checker, output, expected]))
  }
})

t.test('a difference may hold any character', async (t) => {
  const { body } = await run({
    language: 'python',
    code: 'import sys\nsys.stdout.buffer.write(b"\\0\\xff\\n")',
    expected_stdout: '\0',
  })
  t.strictSame(body.difference, { line: 1, expected: '\0', got: '\0\ufffd' })
})

t.test('of long outputs the beginning is told, of all tests together a bounded part', async (t) => {
  const { body } = await run({
    language: 'python',
    code: 'print("x" * 100_000)',
    tests: Array.from({ length: 70 }, () => ({})),
  })
  t.equal(body.tests[0].stdout.length, 65_536)
  t.equal(body.tests[0].stdout_truncated, true)
  t.equal(body.stdout.length, 100_001, 'the decisive one is told whole')
  const total = (pick(body, 'stdout') as string[]).reduce((sum, { length }) => sum + length, 0)
  t.equal(total, mebibyte)
  t.equal(body.tests[69].stdout_truncated, true)

  const { body: log } = await call('GET', `/api/result/${body.id}/events`)
  const said = log.events.at(-1).data.tests as Told[]
  t.equal(said.length, 70)
  t.match(said[0], { verdict: 'AC', ending: 'exited', stdout: { bytes: 100_001 } })
  t.strictSame(said[69], { verdict: 'AC' }, 'an event is small')
  const [kept] = await sql`
    select max(octet_length(e.data::text)) as bytes from runledger.event e where e.stream_id = ${body.id}`
  t.ok(kept?.['bytes'] <= 8192, `${kept?.['bytes']} bytes`)
})

t.test('the bodies of tests go with their age, what the log says of them stays', async (t) => {
  const { body } = await run({ language: 'python', code: double, tests: cases })
  await sql`select runledger.purge_bodies(interval '0 seconds', 1000)`
  const { body: purged } = await call('GET', `/api/result/${body.id}`)
  t.match(purged, { verdict: 'AC', tests: null, stdout: null, difference: null })
  t.strictSame(await findBroken(sql), [])
  t.strictSame([...(await sql`select * from audit.altered_body`)], [])
})

t.test('what is wrong is refused, all of it at once', async (t) => {
  const rows: [object, ...string[]][] = [
    [{ tests: [] }, 'tests'],
    [{ tests: {} }, 'tests'],
    [{ tests: [1] }, 'tests.0'],
    [{ tests: [[]] }, 'tests.0'],
    [{ tests: Array.from({ length: 201 }, () => ({})) }, 'tests'],
    [{ tests: [{ stdin: 'x'.repeat(mebibyte), expected_stdout: 'y' }] }, 'tests'],
    [{ tests: [{ stdout: '' }] }, 'tests.0.stdout'],
    [{ tests: [{ stdin: 7, expected_stdout: '\ud800' }] }, 'tests.0.stdin', 'tests.0.expected_stdout'], // prettier-ignore
    [{ tests: [{ name: '\0' }] }, 'tests.0.name'],
    [{ tests: [{ stdin: '!' }], stdin_encoding: 'base64' }, 'tests.0.stdin'],
    [{ tests: [{}], stdin: '', expected_stdout: '' }, 'stdin', 'expected_stdout'],
    [{ stop_on_failure: true }, 'stop_on_failure'],
    [{ stop_on_failure: 'yes', tests: [{}] }, 'stop_on_failure'],
    [{ checker: { type: 'exact' } }, 'checker'],
    [{ tests: [{}], checker: { type: 'floats' } }, 'checker'],
    [{ tests: [{}], checker: { type: 'floats', absolute: -1 } }, 'checker.absolute'],
    [{ tests: [{}], checker: { type: 'exact', absolute: 1 } }, 'checker.absolute'],
    [{ tests: [{}], checker: { type: 'magic' } }, 'checker.type'],
    [{ tests: [{}], checker: [] }, 'checker'],
    [{ tests: [{}], checker: 'lines' }, 'checker'],
  ]
  await checkMistakes(t, rows, submit)
})

/** A program that is right for every number except those of the list. */
const wrongFor = (wrong: readonly number[]): string =>
  `n = int(input())\nprint(-1 if n in ${JSON.stringify(wrong)} else n * 2)`
const test = (n: number, more: object = {}): object => ({
  stdin: `${n}\n`,
  expected_stdout: `${2 * n}\n`,
  ...more,
})
const post = (body: object): Promise<Answer> => run({ language: 'python', ...body })
const verdicts = ({ body }: Answer): unknown[] => pick(body, 'verdict')

t.test('each test’s points count when it passes', async (t) => {
  const tests = [test(1, { points: 10 }), test(2, { points: 20.5 }), test(3)]
  const all = await post({ code: wrongFor([]), tests })
  t.match(all.body, { verdict: 'AC', score: 30.5, max_score: 30.5, groups: null })
  const some = await post({ code: wrongFor([1]), tests, stop_on_failure: false })
  t.match(some.body, { verdict: 'WA', score: 20.5, max_score: 30.5 })
  const none = await post({ code: wrongFor([1]), tests, stop_on_failure: true })
  t.match(none.body, { verdict: 'WA', score: 0, max_score: 30.5 })
  t.strictSame(verdicts(none), ['WA', null, null])
})

t.test('a record without points says nothing of a score', async (t) => {
  for (const more of [{}, { tests: [test(1)] }]) {
    const { body } = await post({ code: wrongFor([]), stdin: '1', ...more, ...('tests' in more && { stdin: undefined }) }) // prettier-ignore
    t.equal(body.verdict, 'AC')
    t.strictSame(
      ['score', 'max_score', 'groups'].filter((name) => name in body),
      [],
    )
  }
})

const groups = [
  { name: 'small', points: 30 },
  { name: 'large', points: 70, require_pass: ['small'] },
  { name: 'other', points: 5 },
]
const grouped = [
  test(0), test(1, { group: 'small' }), test(2, { group: 'small' }), test(3, { group: 'large' }),
  test(4, { group: 'other' }), test(5, { group: 'large' }),
] // prettier-ignore

t.test('a group whose required one failed is not run, and the others are', async (t) => {
  const failed = await post({ code: wrongFor([1]), tests: grouped, groups })
  t.strictSame(verdicts(failed), ['AC', 'WA', 'AC', null, 'AC', null])
  t.match(failed.body, { verdict: 'WA', score: 5, max_score: 105 })
  t.strictSame(failed.body.groups, [
    { name: 'small', passed: false, score: 0, max_score: 30 },
    { name: 'large', passed: false, score: 0, max_score: 70 },
    { name: 'other', passed: true, score: 5, max_score: 5 },
  ])
  const stopped = await post({ code: wrongFor([1]), tests: grouped, groups, stop_on_failure: true })
  t.strictSame(verdicts(stopped), ['AC', 'WA', null, null, 'AC', null])
  const right = await post({ code: wrongFor([]), tests: grouped, groups })
  t.match(right.body, { verdict: 'AC', score: 105, max_score: 105 })
  const sample = await post({ code: wrongFor([0]), tests: grouped, groups })
  t.match(sample.body, { verdict: 'WA', score: 105, max_score: 105 })
})

t.test('the log has the score, from which results are made; groups go with outputs', async (t) => {
  const broken = await post({ language: 'cpp', code: 'int main( {', tests: grouped, groups })
  t.match(broken.body, { verdict: 'CE', score: 0, max_score: 105 })
  const { body } = await post({ code: wrongFor([3]), tests: grouped, groups, tag: 'scored' })
  t.match(body, { score: 35, max_score: 105 })
  const { events } = (await call('GET', `/api/result/${body.id}/events`)).body
  t.match(events.at(-1), { type: 'execution.completed', data: { score: 35, max_score: 105 } })
  t.strictSame(await findBroken(sql), [])
  const [listed] = (await call('GET', '/api/submissions?tag=scored')).body.submissions
  t.match(listed, { id: body.id, score: 35, max_score: 105 })
  t.notOk('groups' in listed)
  await sql`select runledger.purge_bodies(interval '-1 second', 100)`
  const purged = await call('GET', `/api/result/${body.id}`)
  t.match(purged.body, { score: 35, max_score: 105, tests: null, groups: null })
  t.strictSame(await findBroken(sql), [])
})

t.test('streams tell of the tests that were run, each under its own number', async (t) => {
  const stream = await openStream({
    port,
    key: await issue(),
    path: '/api/submit',
    body: { language: 'python', code: wrongFor([1]), tests: grouped, groups },
  })
  const told = (await stream.ended).filter(({ event }) => event === 'test')
  const found = told.map(({ data }) => data.index)
  t.strictSame(found, [0, 1, 2, 4])
})

t.test('every mistake of points and groups is told at its path', async (t) => {
  const mistakes = async (body: object): Promise<string[]> => {
    const { status, body: answer } = await submit(body)
    t.equal(status, 400)
    return answer.issues.map(({ path, message }: Issue) => `${path} ${message}`)
  }
  const group = (name: unknown, more: object = {}): object => ({ name, points: 1, ...more })
  const a = group('a')
  const inA = { group: 'a' }
  const rows = [
    [{ groups: [a] }, 'groups needs tests'],
    [{ tests: [inA] }, 'tests.0.group needs groups'],
    [{ tests: [inA, { group: 'b' }], groups: [a] }, 'tests.1.group is not the name of a group'],
    [{ tests: [inA], groups: [a, group('b')] }, 'groups.1 has no test'],
    [{ tests: [inA], groups: [a, a] }, 'groups.1.name is the name of an earlier group'],
    [{ tests: [{ ...inA, points: 1 }], groups: [a] }, 'tests.0.points cannot be combined with groups'],
    [
      { tests: [inA, { group: 'b' }], groups: [group('a', { require_pass: ['b'] }), group('b')] },
      'groups.0.require_pass.0 is not the name of an earlier group',
    ],
    [
      { tests: [inA], groups: [group('a', { require_pass: ['a', 'x'] })] },
      'groups.0.require_pass.0 is not the name of an earlier group',
      'groups.0.require_pass.1 is not the name of an earlier group',
    ],
    [
      { tests: [inA, { group: 'b' }, inA], groups: [a, group('b', { require_pass: ['a'] })] },
      'groups.1.require_pass.0 has a test after the first test of this group',
    ],
    [{ tests: [inA], groups: [] }, 'groups holds no group'],
    [{ tests: [inA], groups: {} }, 'groups must be an array of groups'],
    [{ tests: [inA], groups: [group('')] }, 'groups.0.name must not be empty'],
    [{ tests: [inA], groups: [{ name: 'a' }] }, 'groups.0.points is required'],
    [{ tests: [inA], groups: [group('a', { points: -1 })] }, 'groups.0.points must be at least 0'],
    [{ tests: [{ points: 1e7 }] }, 'tests.0.points must be at most 1000000'],
    [{ tests: [{ points: '1' }] }, 'tests.0.points must be a number'],
    [{ tests: [inA], groups: [group('a', { weight: 1 })] }, 'groups.0.weight is not a field of a group'],
  ] as const // prettier-ignore
  for (const [body, ...issues] of rows)
    // prettier-ignore
    t.strictSame(await mistakes(body), issues, JSON.stringify(body))
})

/** Runs a submission under a tier that allows this many seconds in all. */
async function runWithin(totalSeconds: number, body: object): Promise<Answer> {
  await sql`update runledger.tier set total_seconds = ${totalSeconds}`
  return post(body)
}

const sleeper = 'import time\nn = float(input())\ntime.sleep(n)\nprint(n)'

t.test('the test in which it ends is told as such, and those after it are not run', async (t) => {
  const stdins = ['0', '1000', '0']
  const { status, body } = await runWithin(6, {
    code: sleeper,
    tests: stdins.map((stdin) => ({ stdin })),
    limits: { wall_time: 500 },
  })
  t.match([status, body], [200, { status: 'completed', verdict: 'TLE', limit: 'total_time' }])
  t.strictSame(pick(body, 'verdict'), ['AC', 'TLE', null])
  t.strictSame(pick(body, 'limit'), [null, 'total_time', null])
  const events = await readStream(sql, body.id)
  t.match(events[1], { type: 'execution.started', data: { total_seconds: 6 } })
  t.match(events[2]?.data, {
    limit: 'total_time',
    run: { ending: 'total_limit' },
    tests: [{ verdict: 'AC' }, { limit: 'total_time', ending: 'total_limit' }, { verdict: null }],
  })
})

t.test('many tests, none of which takes long, are bounded alike', async (t) => {
  const { body } = await runWithin(2, {
    code: sleeper,
    tests: Array.from({ length: 200 }, () => ({ stdin: '0.5' })),
  })
  t.match(body, { verdict: 'TLE', limit: 'total_time' })
  const verdicts = pick(body, 'verdict')
  const end = verdicts.indexOf('TLE')
  t.ok(end <= 4, `test ${end} was the last one`)
  t.strictSame(new Set(verdicts.slice(end + 1)), new Set([null]))
})

t.test('an earlier failure decides, and its own limit is told as before', async (t) => {
  const { body } = await runWithin(60, {
    code: sleeper,
    tests: [{ stdin: '1000' }, { stdin: '0', expected_stdout: '0.0' }, { stdin: '1000' }],
    limits: { wall_time: 3 },
  })
  t.match(body, { verdict: 'TLE', limit: 'wall_time' })
  t.strictSame(pick(body, 'verdict'), ['TLE', 'AC', 'TLE'])
})

t.test('the time of a checker counts', async (t) => {
  const { body } = await runWithin(4, {
    code: 'print(1)',
    tests: [{}, {}],
    checker: { type: 'program', language: 'python', code: 'import time\ntime.sleep(1000)' },
  })
  t.match(body, { status: 'completed', verdict: 'TLE', limit: 'total_time' })
  t.strictSame(pick(body, 'verdict'), ['TLE', null])
})

t.test('a submission without tests is bounded, too', async (t) => {
  const { body } = await runWithin(2, { code: sleeper, stdin: '1000' })
  t.match(body, { verdict: 'TLE', limit: 'total_time', tests: null, exit_code: 137 })
})
