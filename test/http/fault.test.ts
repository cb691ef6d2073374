// `fault` and `retry`: each final record and each error says whose fault it is and whether to retry.
import t from 'tap'
import { problemStatus } from '#error'
import { finish, interrupt, startExecution } from '../helper/execution.ts'
import { startFreshServer } from '../helper/server.ts'

const { call, sql } = await startFreshServer(t, {
  queueCapacity: 20,
  syncWaitSeconds: 0.2,
  atOnce: 20,
})
const python = { language: 'python', code: 'print(1)' }
const submit = async (): Promise<string> =>
  (await call('POST', '/api/submit', { body: python })).body.id
const read = async (id: string): Promise<unknown> => (await call('GET', `/api/result/${id}`)).body

t.test('a record says whose fault its verdict is', async (t) => {
  t.match(await read(await submit()), { status: 'queued', fault: null, retry: null })
  const ends = [
    ['AC', null],
    ['WA', 'program'],
    ['CE', 'program'],
    ['RE', 'program'],
    ['TLE', 'program'],
    ['MLE', 'program'],
    ['OLE', 'program'],
    ['IE', 'checker'],
  ] as const
  for (const [verdict, fault] of ends) {
    const id = await submit()
    await finish(sql, id, { verdict })
    t.match(await read(id), { status: 'completed', verdict, fault, retry: 'never' }, verdict)
  }
})

t.test('what the service lost is its own fault, and no verdict on the program', async (t) => {
  const id = await submit()
  for (let lost = 0; lost < 3; lost += 1) {
    const version = await startExecution(sql, id)
    t.match(await read(id), { fault: null, retry: null }, 'it may still succeed')
    await interrupt(sql, id, version ?? 0)
  }
  t.match(await read(id), { status: 'failed', verdict: 'IE', fault: 'platform', retry: 'new_key' })
})

t.test('what was taken back is nobody’s fault', async (t) => {
  const id = await submit()
  const { body } = await call('POST', `/api/result/${id}/cancel`)
  t.match(body, { status: 'cancelled', fault: null, retry: 'never' })
  const page = await call('GET', '/api/submissions?status=cancelled')
  t.match(page.body.submissions, [{ id, fault: null, retry: 'never' }])
})

t.test('an error says so too', async (t) => {
  const callers = { fault: 'caller', retry: 'never' }
  t.match((await call('POST', '/api/submit', { body: {} })).body, callers)
  t.match((await call('GET', '/api/result/none')).body, callers)
  t.match((await call('GET', '/nowhere')).body, callers)
  t.match((await call('GET', '/api/languages', { key: 'rl_live_none' })).body, callers)
  const late = await call('POST', '/api/submit?wait=true', { body: python })
  t.match(late.body, { error: 'timeout', fault: 'platform', retry: 'same_key' })
  const batch = await call('POST', '/api/submit/batch', { body: { submissions: [{}] } })
  t.match(batch.body.submissions, [callers])
  for (;;) {
    const { status, body } = await call('POST', '/api/submit', { body: python })
    if (status === 202) continue
    t.equal(status, problemStatus.queue_full)
    t.match(body, { error: 'queue_full', fault: 'platform', retry: 'after' })
    break
  }
})
