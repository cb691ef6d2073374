// GET /api/submissions beyond its pages: previews of programs, and the filter by a span of time. GET /api/results: many
// records for one request of the rate window, and no record of another account.
import t from 'tap'
import { purgeBodies } from '#result'
import { finish, pretendWorker } from '../helper/execution.ts'
import { startFreshServer, untilAvailable } from '../helper/server.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { call, sql } = await startFreshServer(t, { role: 'runledger_api' })
const { key, ...caller } = await createCaller(sql)
const beta = await createCaller(sql, 'beta')
const list = async (query: string) =>
  (await call('GET', `/api/submissions?${query}`, { key })).body.submissions
await pretendWorker(sql, { python: {} })

t.test('a preview is the first line of each program, while it is kept', async (t) => {
  const codes = ['\n\n  print("first")  \nprint(2)', '', `# ${'ü'.repeat(300)}`, 'print(input())']
  const ids: string[] = []
  for (const [index, code] of codes.entries())
    ids.push(
      await submitNew(sql, caller, describeSubmission({ code, ...(index === 3 && { expectedStdout: Buffer.from('1') }) })), // prettier-ignore
    )
  t.match(await list('preview=true'), [
    { id: ids[3], preview: 'print(input())', judged: true },
    { id: ids[2], preview: `# ${'ü'.repeat(78)}`, judged: false },
    { id: ids[1], preview: '', judged: false },
    { id: ids[0], preview: 'print("first")', judged: false },
  ])
  for (const query of ['', 'preview=false'])
    t.notOk(
      (await list(query)).some((one: object) => 'preview' in one || 'judged' in one),
      query,
    )
  for (const id of ids) await finish(sql, id)
  await purgeBodies(sql, 0)
  for (const one of await list('preview=true')) t.match(one, { preview: null, judged: null })
})

t.test('tests and a checker judge, too', async (t) => {
  const submit = async (body: object) => {
    const answer = await call('POST', '/api/submit', { key, body: { language: 'python', code: '1', ...body } }) // prettier-ignore
    t.equal(answer.status, 202)
  }
  await submit({ args: ['tests'] })
  await submit({ tests: [{ stdin: '1' }] })
  t.match(await list('preview=true&limit=2'), [{ judged: true }, { judged: false }])
})

t.test('a span of time is from its beginning and before its end', async (t) => {
  const [newest] = await list('limit=1')
  const at = Date.parse(newest.created_at)
  const span = async (since: number, until: number) =>
    (await list(`since=${new Date(since).toISOString()}&until=${new Date(until).toISOString()}`)).map(({ id }: { id: string }) => id) // prettier-ignore
  t.ok((await span(at, at + 60_000)).includes(newest.id))
  t.notOk((await span(at - 60_000, at)).includes(newest.id))
  t.strictSame(await span(at + 60_000, at + 120_000), [])
  t.strictSame(await list('since=2000-01-01T00:00:00Z&until=2000-01-02T00:00:00Z'), [])
  for (const query of ['since=yesterday', 'until=2030-02-30T00:00:00Z', 'preview=maybe'])
    t.match(await call('GET', `/api/submissions?${query}`, { key }), { status: 400, body: { issues: [{ path: `?${query.replace(/=.*/, '')}` }] } }, query) // prettier-ignore
})

const receive = (by = beta): Promise<string> =>
  submitNew(sql, by, describeSubmission({ code: 'print(1)' }))
const ask = (ids: readonly string[]): ReturnType<typeof call> =>
  call('GET', `/api/results?ids=${ids.join(',')}`, { key: beta.key })
const absent = '01a217f2-7e4e-7662-80e2-c2b8e594128e'

t.test('records come in the order of the ids; what is not there says so', async (t) => {
  const [queued, ended] = [await receive(), await receive()]
  await finish(sql, ended, { stdout: '1\n' })
  const foreign = await receive(await createCaller(sql))
  await finish(sql, foreign)
  const { status, body } = await ask([ended, foreign, queued.toUpperCase(), absent, 'x', ended])
  t.equal(status, 200)
  const none = { error: 'not_found', message: 'There is no such submission.' }
  const single = (await call('GET', `/api/result/${ended}`, { key: beta.key })).body
  t.match(single, { status: 'completed', stdout: '1\n' })
  t.strictSame(body.results, [
    single,
    { id: foreign, ...none },
    (await call('GET', `/api/result/${queued}`, { key: beta.key })).body,
    { id: absent, ...none },
    { id: 'x', ...none },
    single,
  ])
})

t.test('a hundred are one request, more are 400', async (t) => {
  const before = await call('GET', `/api/result/${absent}`, { key: beta.key })
  const ids = Array.from({ length: 100 }, () => absent)
  const { status, body, headers } = await ask(ids)
  t.equal(status, 200)
  t.equal(body.results.length, 100)
  const left = (text: unknown): number => Number(/r=(\d+)/.exec(String(text))?.[1])
  t.equal(left(before.headers['ratelimit']) - left(headers['ratelimit']), 1)
  const queries = ['', '?ids=', '?ids=a,,b', `?ids=${[...ids, absent].join(',')}`, '?ids=a&ids=b'] // prettier-ignore
  for (const query of queries) {
    const refused = await call('GET', `/api/results${query}`, { key: beta.key })
    t.match(
      refused,
      { status: 400, body: { issues: [{ path: '?ids', message: /^(must|is) / }] } },
      query,
    )
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
