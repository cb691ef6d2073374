// A submission as a whole is bounded by its key's tier, however many tests it has.
import t from 'tap'
import { readStream } from '#event'
import { createTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
await startWorkerProcess(t, url)
const { call } = await startServer(t, sql, { url, syncWaitSeconds: 300 })

/** Runs a submission under a tier that allows this many seconds in all. */
async function run(totalSeconds: number, body: object): Promise<Answer> {
  await sql`update runledger.tier set total_seconds = ${totalSeconds}`
  return call('POST', '/api/submit?wait=true', { body: { language: 'python', ...body } })
}

type Told = Readonly<Record<string, unknown>>
const pick = (tests: readonly Told[], field: string): unknown[] => tests.map((one) => one[field])

const sleeper = 'import time\nn = float(input())\ntime.sleep(n)\nprint(n)'

t.test('the test in which it ends is told as such, and those after it are not run', async (t) => {
  const stdins = ['0', '1000', '0']
  const { status, body } = await run(6, {
    code: sleeper,
    tests: stdins.map((stdin) => ({ stdin })),
    limits: { wall_time: 500 },
  })
  t.match([status, body], [200, { status: 'completed', verdict: 'TLE', limit: 'total_time' }])
  t.strictSame(pick(body.tests, 'verdict'), ['AC', 'TLE', null])
  t.strictSame(pick(body.tests, 'limit'), [null, 'total_time', null])
  const events = await readStream(sql, body.id)
  t.match(events[1], { type: 'execution.started', data: { total_seconds: 6 } })
  t.match(events[2]?.data, {
    limit: 'total_time',
    run: { ending: 'total_limit' },
    tests: [{ verdict: 'AC' }, { limit: 'total_time', ending: 'total_limit' }, { verdict: null }],
  })
})

t.test('many tests, none of which takes long, are bounded alike', async (t) => {
  const { body } = await run(2, {
    code: sleeper,
    tests: Array.from({ length: 200 }, () => ({ stdin: '0.5' })),
  })
  t.match(body, { verdict: 'TLE', limit: 'total_time' })
  const verdicts = pick(body.tests, 'verdict')
  const end = verdicts.indexOf('TLE')
  t.ok(end <= 4, `test ${end} was the last one`)
  t.strictSame(new Set(verdicts.slice(end + 1)), new Set([null]))
})

t.test('an earlier failure decides, and its own limit is told as before', async (t) => {
  const { body } = await run(60, {
    code: sleeper,
    tests: [{ stdin: '1000' }, { stdin: '0', expected_stdout: '0.0' }, { stdin: '1000' }],
    limits: { wall_time: 3 },
  })
  t.match(body, { verdict: 'TLE', limit: 'wall_time' })
  t.strictSame(pick(body.tests, 'verdict'), ['TLE', 'AC', 'TLE'])
})

t.test('the time of a checker counts', async (t) => {
  const { body } = await run(4, {
    code: 'print(1)',
    tests: [{}, {}],
    checker: { type: 'program', language: 'python', code: 'import time\ntime.sleep(1000)' },
  })
  t.match(body, { status: 'completed', verdict: 'TLE', limit: 'total_time' })
  t.strictSame(pick(body.tests, 'verdict'), ['TLE', null])
})

t.test('a submission without tests is bounded, too', async (t) => {
  const { body } = await run(2, { code: sleeper, stdin: '1000' })
  t.match(body, { verdict: 'TLE', limit: 'total_time', tests: null, exit_code: 137 })
})
