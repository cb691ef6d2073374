// Submissions with tests: compiled once, run once for each test, judged by the requested checker.
import t from 'tap'
import { createTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
await startWorkerProcess(t, url)
const { call } = await startServer(t, sql, { url, syncWaitSeconds: 300 })

const mebibyte = 1024 * 1024
const run = (body: object): Promise<Answer> => call('POST', '/api/submit?wait=true', { body })

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
    select
      (select max(octet_length(e.data::text)) from runledger.event e where e.stream_id = ${body.id}) as bytes,
      convert_from(o.report, 'UTF8')::jsonb -> 'facts' as facts
    from runledger.output o where o.submission_id = ${body.id}`
  t.ok(kept?.['bytes'] <= 8192, `${kept?.['bytes']} bytes`)
  t.equal(kept?.['facts'].length, 70)
  t.match(kept?.['facts'][69], { ending: 'exited', stdout: { bytes: 100_001 } })
})

t.test('the bodies of tests go with their age, what the log says of them stays', async (t) => {
  const { body } = await run({ language: 'python', code: double, tests: cases })
  await sql`select runledger.purge_bodies(interval '0 seconds', 1000)`
  const { body: purged } = await call('GET', `/api/result/${body.id}`)
  t.match(purged, { verdict: 'AC', tests: null, stdout: null, difference: null })
  t.equal((await sql`select from audit.altered_body`).length, 0)
  t.equal((await sql`select from audit.drift`).length, 0)
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
  for (const [more, ...paths] of rows) {
    const { status, body } = await call('POST', '/api/submit', {
      body: { language: 'python', code: '', ...more },
    })
    const found = (body.issues ?? []).map(({ path }: { path: string }) => path)
    t.strictSame([status, found], [400, paths], JSON.stringify([more, body.issues]).slice(0, 300))
  }
})
