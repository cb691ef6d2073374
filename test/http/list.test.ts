// GET /api/submissions beyond its pages: previews of programs, and the filter by a span of time.
import t from 'tap'
import { purgeBodies } from '#result'
import { createTestDatabase } from '../helper/database.ts'
import { finish, pretendWorker } from '../helper/execution.ts'
import { startServer } from '../helper/server.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
// The server has only the database rights of the web process.
const { call } = await startServer(t, sql, { url: `${url}?role=runledger_api` })
const { key, ...caller } = await createCaller(sql)
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
