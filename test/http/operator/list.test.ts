// The lists of operators over HTTP: who may read them, which queries they refuse, and a webhook that is sent again.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { finish, pretendWorker, recordDelivery, startExecution } from '../../helper/execution.ts'
import { issueOperatorKey } from '../../helper/operator.ts'
import { startFreshServer } from '../../helper/server.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { call, sql } = await startFreshServer(t, { role: 'runledger_api' })
const { key } = await issueOperatorKey(sql)
const reader = await issueOperatorKey(sql, { readOnly: true })
const caller = await createCaller(sql)
const path = '/api/operator/'

t.test('a read-only key reads each of them, a submitter’s key none', async (t) => {
  await pretendWorker(sql, { python: {} })
  await startExecution(sql, await submitNew(sql, caller, describeSubmission({ code: '' })))
  for (const [list, name] of [
    ['workers', 'workers'],
    ['workers?gone=true', 'workers'],
    ['running', 'running'],
    ['webhooks', 'webhooks'],
    ['reruns?campaign=none', 'changes'],
  ] as const) {
    t.match(await call('GET', `${path}${list}`, { key: reader.key }), { status: 200, body: { [name]: Array } }) // prettier-ignore
    t.match(await call('GET', `${path}${list}`), { status: 403 }, list)
  }
  t.match((await call('GET', `${path}running`, { key })).body, { running: [{ language: 'python' }] }) // prettier-ignore
})

t.test('a query that is wrong is refused', async (t) => {
  for (const [list, parameter] of [
    ['workers?gone=maybe', '?gone'],
    ['running?all=true', '?all'],
    ['webhooks?state=lost', '?state'],
    ['webhooks?limit=0', '?limit'],
    ['webhooks?before=now', '?before'],
    ['reruns', '?campaign'],
    ['reruns?campaign=c&after=now', '?after'],
  ] as const)
    t.match(await call('GET', `${path}${list}`, { key }), { status: 400, body: { issues: [{ path: parameter }] } }, list) // prettier-ignore
  t.match(await call('GET', `${path}reruns?campaign=c&account=nobody`, { key }), { status: 404 })
})

t.test('a webhook is sent again once it has ended, by a key that may', async (t) => {
  const webhook = { url: 'https://hooks.example/', secret: 's' }
  const id = await submitNew(sql, caller, describeSubmission({ code: '', webhook }))
  const replay = `${path}webhooks/${id}/replay`
  const body = { secret: 'new' }
  t.match(await call('POST', replay, { key: reader.key, body }), { status: 403 })
  t.match(await call('POST', replay, { key, body: {} }), { status: 400, body: { issues: [{ path: 'secret' }] } }) // prettier-ignore
  t.match(await call('POST', replay, { key, body }), { status: 409 })
  t.match(await call('POST', `${path}webhooks/${uuidv7()}/replay`, { key, body }), { status: 404 })
  t.match(await call('GET', `${path}webhooks/none`, { key }), { status: 404 })
  await finish(sql, id)
  await recordDelivery(sql, id, { outcome: 'refused', abandonedBecause: 'gone' })
  await sql`update runledger.delivery set url = null where submission_id = ${id}`
  t.match(await call('POST', replay, { key, body }), { status: 410 })
  await sql`update runledger.delivery set url = 'https://hooks.example/' where submission_id = ${id}`
  t.match(await call('POST', replay, { key, body }), { status: 200, body: { was: 'abandoned' } })
  t.match(await call('POST', replay, { key, body }), { status: 409 })
  t.match((await call('GET', `${path}webhooks/${id}`, { key })).body, { webhook: { submission_id: id, state: 'pending' } }) // prettier-ignore
})

t.test('a submission, an account and a key are looked up', async (t) => {
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
  const [account] = await sql`select name from runledger.account where id = ${caller.accountId}`
  const name = String(account?.['name'])
  const find = async (q: string) =>
    (await call('GET', `${path}find?q=${encodeURIComponent(q)}`, { key: reader.key })).body
  t.match(await find(id), { submissions: [{ id, account: name, status: 'queued' }], accounts: [], keys: [] }) // prettier-ignore
  const all = await find(name)
  t.match(all, { accounts: [{ name, id: caller.accountId }], keys: [{ account: name, role: 'submit' }] }) // prettier-ignore
  t.match(all.submissions[0], { id, api_key: all.keys[0].label }, 'the newest first')
  t.match(await find(name.slice(1)), { accounts: [{ name }], submissions: [], keys: [] })
  t.match(await find(key.slice(0, 12)), { keys: [{ role: 'operator' }] })
  await sql`update runledger.api_key set name = 'nightly' where id = ${reader.id}`
  t.match(await find('nightly'), { keys: [{ id: reader.id, name: 'nightly' }], accounts: [] })
  t.match(await find('nobody at all'), { submissions: [], accounts: [], keys: [] })
  t.match(await call('GET', `${path}find`, { key }), { status: 400, body: { issues: [{ path: '?q' }] } }) // prettier-ignore
  t.match(await call('GET', `${path}find?q=x`), { status: 403 })
})
