// The web process needs no rights beyond its own database role: every route works with the grants of that role.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createDatabase } from '#database'
import { openTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'

const { sql, url } = await openTestDatabase(t)
const asApi = `${url}?role=runledger_api`
const { call } = await startServer(t, sql, { url: asApi, queueCapacity: 4 })
const python = { language: 'python', code: '' }

t.test('every route works', async (t) => {
  const headers = { 'Idempotency-Key': randomUUID() }
  const { status, body } = await call('POST', '/api/submit', { headers, body: python })
  t.equal(status, 202)
  t.equal((await call('POST', '/api/submit', { headers, body: python })).status, 202)
  const rows: [string, string, number, object?][] = [
    ['POST', '/api/submit?wait=true', 408, python],
    ['POST', '/api/submit/batch', 202, { submissions: [python, python] }],
    ['POST', '/api/submit', 503, python],
    ['GET', `/api/result/${body.id}`, 200],
    ['GET', `/api/result/${body.id}?wait=true`, 200],
    ['GET', `/api/result/${body.id}/events`, 200],
    ['POST', `/api/result/${body.id}/rerun`, 409],
    ['GET', '/api/submissions?language=py', 200],
    ['GET', '/api/languages', 200],
    ['GET', '/readyz', 200],
  ]
  for (const [method, path, expected, given] of rows) {
    const answer = await call(method, path, { headers: { Prefer: 'wait=0' }, body: given })
    t.equal(answer.status, expected, `${method} ${path} ${answer.text}`)
  }
  const { text } = await call('GET', '/metrics', { checked: false })
  t.match(text, /^runledger_database_up 1$/m)
})

t.test('it can neither read keys nor write tables nor end submissions', async (t) => {
  const api = createDatabase({ url: asApi, connections: 1, name: 'as api' })
  t.teardown(() => api.end())
  for (const statement of [
    'select * from runledger.api_key',
    'select secret from runledger.delivery',
    "update runledger.result set verdict = 'AC'",
    'delete from runledger.event',
    'select * from runledger.rebuild_batch(gen_random_uuid(), 1)',
    "select runledger.issue_key(gen_random_uuid(), gen_random_uuid(), '', 1, '{}', '{}')",
  ]) {
    await t.rejects(api.unsafe(statement), { code: '42501' }, statement)
  }
})

t.test('the sweep of the web process works', async (t) => {
  const api = createDatabase({ url: asApi, connections: 1, name: 'as api' })
  const [row] = await api`select runledger.reconcile_queue() as count`
  t.equal(row?.['count'], 0)
  await api`select * from runledger.sweep_workers()`
  await api`select runledger.check_ledger(1000)`
  await api.end()
})
