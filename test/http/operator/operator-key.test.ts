// Which key opens what: an operator's key opens only /api/operator, any other key opens only everything else.
import t from 'tap'
import {
  createAdmit,
  createAdmitOperator,
  changeKeyTier,
  issueKey,
  listKeys,
  revokeKey,
  rotateKey,
} from '#account'
import { readStream } from '#event'
import { issueOperatorKey } from '../../helper/operator.ts'
import { startFreshServer } from '../../helper/server.ts'

const { call, issue, sql } = await startFreshServer(t)
const submission = { language: 'python', code: '' }
const look = '/api/operator/overview'

t.test('an operator’s key submits nothing and reads nobody’s submissions', async (t) => {
  const { key } = await issueOperatorKey(sql)
  const id = (await call('POST', '/api/submit', { body: submission })).body.id as string
  const [before] = await sql`select count(*) from runledger.event`
  for (const [method, path, body] of [
    ['POST', '/api/submit', submission],
    ['POST', '/api/submit?wait=true', submission],
    ['POST', '/api/submit/batch', { submissions: [submission] }],
    ['GET', `/api/result/${id}`],
    ['GET', `/api/result/${id}/events`],
    ['POST', `/api/result/${id}/cancel`],
    ['POST', `/api/result/${id}/rerun`],
    ['GET', '/api/submissions'],
    ['GET', '/api/languages'],
  ] as const) {
    const answer = await call(method, path, { key, ...(body !== undefined && { body }) })
    t.match(answer, { status: 403, body: { error: 'forbidden' } }, `${method} ${path}`)
  }
  t.equal((await call('GET', look, { key })).status, 200)
  t.strictSame([...(await sql`select count(*) from runledger.event`)], [before])
})

t.test('a key that submits opens nothing of operators’, and still counts', async (t) => {
  const key = await issue('beta')
  // The check of the new key counted as the first request.
  for (let n = 1; n < 60; n += 1) {
    const { status, body } = await call('GET', look, { key })
    if (status !== 403 || body.error !== 'forbidden') t.match({ status, body }, { status: 403 })
  }
  t.equal((await call('GET', look, { key })).status, 429)
  t.equal((await call('GET', look, { key: null })).status, 401)
})

t.test('what submits does not know an operator’s key, whatever process asks', async (t) => {
  const { key, id } = await issueOperatorKey(sql)
  const [row] = await sql`select digest from runledger.api_key where id = ${id}`
  // A process of the previous release would ask this, if it did not refuse the key by its form.
  t.strictSame([...(await sql`select * from runledger.admit_request(${row?.['digest']})`)], [])
  t.equal(await createAdmit(sql)(key), null)
  t.match(await createAdmitOperator(sql)(key), { apiKeyId: id, isReadOnly: false })
  const own = await issueKey(sql, { account: 'a', tier: 'unlimited' }, 'test')
  const [other] = await sql`select digest from runledger.api_key where id = ${own.id}`
  t.strictSame(
    [...(await sql`select * from runledger.admit_request(${other?.['digest']}, 'operator')`)],
    [],
  )
  t.equal(await createAdmitOperator(sql)(own.key), null)
})

t.test('a key that is revoked, expired or mistyped is 401, as any', async (t) => {
  const revoked = await issueOperatorKey(sql)
  t.ok(await revokeKey(sql, revoked.id, 'test'))
  const expired = await issueOperatorKey(sql)
  await sql`update runledger.api_key set expires_at = now() where id = ${expired.id}`
  const { key } = await issueOperatorKey(sql)
  const bads = [revoked.key, expired.key, `${key.slice(0, -1)}!`, key.replace('oper', 'live')] // prettier-ignore
  for (const bad of bads) {
    for (const path of [look, '/api/submissions'])
      t.match(await call('GET', path, { key: bad }), { status: 401 }, `${bad.slice(0, 8)} ${path}`)
  }
})

t.test('a successor has the role of the key that it follows, and no other', async (t) => {
  const { id } = await issueOperatorKey(sql, { readOnly: true })
  const successor = await rotateKey(sql, id, 0, 'test')
  t.match(await createAdmitOperator(sql)(successor?.key ?? ''), { isReadOnly: true })
  t.match(
    (await listKeys(sql, 'operations')).find((key) => key.id === successor?.id),
    { role: 'operator', read_only: true, label: /^rl_oper_\w{4}$/ },
  )
  const replaces = successor?.id ?? ''
  const asOther = issueKey(sql, { account: 'operations', tier: 'beta', replaces }, 'test')
  await t.rejects(asOther, { code: 'RL024' })
  t.ok(await changeKeyTier(sql, successor?.id ?? '', 'beta', 'test'))
  t.match(await createAdmitOperator(sql)(successor?.key ?? ''), { isReadOnly: true })
})

t.test('its issue is an event that says what it may', async (t) => {
  const { id } = await issueOperatorKey(sql, { readOnly: true })
  t.match(await readStream(sql, id), [
    { type: 'api_key.issued', data: { role: 'operator', read_only: true } },
  ])
  const own = await issueKey(sql, { account: 'a', tier: 'unlimited' }, 'test')
  const [issued] = await readStream(sql, own.id)
  t.notOk(issued !== undefined && 'role' in issued.data)
  t.match(await sql`select role, read_only from audit.api_key where id = ${own.id}`, [
    { role: 'submit', read_only: false },
  ])
  await t.rejects(sql`update runledger.api_key set read_only = true where id = ${own.id}`, {
    code: '23514',
  })
})

t.test('nothing of operators is at a path that is none', async (t) => {
  const { key } = await issueOperatorKey(sql)
  for (const path of ['/api/operator', '/api/operator/', '/api/operator/nothing', '/api/nothing'])
    t.match(await call('GET', path, { key }), { status: 404 }, path)
  t.match(await call('GET', `${look}?fast=true`, { key }), { status: 400 })
})
