// GET /api/results: many records for one request of the rate window, and no record of another account.
import t from 'tap'
import { createTestDatabase } from '../helper/database.ts'
import { finish } from '../helper/execution.ts'
import { startServer, untilAvailable } from '../helper/server.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const { call } = await startServer(t, sql, { url })
const caller = await createCaller(sql, 'beta')
const { key } = caller
const receive = (by = caller): Promise<string> =>
  submitNew(sql, by, describeSubmission({ code: 'print(1)' }))
const ask = (ids: readonly string[]): ReturnType<typeof call> =>
  call('GET', `/api/results?ids=${ids.join(',')}`, { key })
const absent = '01a217f2-7e4e-7662-80e2-c2b8e594128e'

t.test('records come in the order of the ids; what is not there says so', async (t) => {
  const [queued, ended] = [await receive(), await receive()]
  await finish(sql, ended, { stdout: '1\n' })
  const foreign = await receive(await createCaller(sql))
  await finish(sql, foreign)
  const { status, body } = await ask([ended, foreign, queued.toUpperCase(), absent, 'x', ended])
  t.equal(status, 200)
  const none = { error: 'not_found', message: 'There is no such submission.' }
  const single = (await call('GET', `/api/result/${ended}`, { key })).body
  t.match(single, { status: 'completed', stdout: '1\n' })
  t.strictSame(body.results, [
    single,
    { id: foreign, ...none },
    (await call('GET', `/api/result/${queued}`, { key })).body,
    { id: absent, ...none },
    { id: 'x', ...none },
    single,
  ])
})

t.test('a hundred are one request, more are 400', async (t) => {
  const before = await call('GET', `/api/result/${absent}`, { key })
  const ids = Array.from({ length: 100 }, () => absent)
  const { status, body, headers } = await ask(ids)
  t.equal(status, 200)
  t.equal(body.results.length, 100)
  const left = (text: unknown): number => Number(/r=(\d+)/.exec(String(text))?.[1])
  t.equal(left(before.headers['ratelimit']) - left(headers['ratelimit']), 1)
  for (const query of [
    '',
    '?ids=',
    '?ids=a,,b',
    `?ids=${[...ids, absent].join(',')}`,
    '?ids=a&ids=b',
  ]) {
    const refused = await call('GET', `/api/results${query}`, { key })
    t.match(refused, { status: 400, body: { issues: [{ path: '?ids' }] } }, query)
  }
})

t.test('outputs are bounded; what does not fit is read by itself', async (t) => {
  const ids = [await receive(), await receive(), await receive()]
  const [first = '', second = '', third = ''] = ids
  await finish(sql, first, { stdout: 'small' })
  await finish(sql, second, { stdout: 'x'.repeat(9 * 1024 * 1024) })
  await finish(sql, third, { stdout: 'small, too' })
  const { body } = await ask(ids)
  t.match(body.results, [
    { id: first, stdout: 'small' },
    { id: second, error: 'too_large', message: /by itself/ },
    { id: third, stdout: 'small, too' },
  ])
  const alone = await untilAvailable(() => ask([second]))
  t.equal(alone.body.results[0].stdout.length, 9 * 1024 * 1024)
})
