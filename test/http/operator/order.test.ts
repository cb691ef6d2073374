// Operators pause, drain and resume workers over HTTP, and the log names the operator. test/job/order.test.ts shows that real
// workers obey.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase } from '#database'
import { readStream } from '#event'
import { issueOperatorKey } from '../../helper/operator.ts'
import { startFreshServer } from '../../helper/server.ts'
import type { Answer } from '../../helper/server.ts'

const { call, issue, sql, url } = await startFreshServer(t, { role: 'runledger_api' })
const { key, id: operatorId } = await issueOperatorKey(sql)
const order = (id: string, word: string, as: string | null = key): Promise<Answer> =>
  call('POST', `/api/operator/workers/${id}/${word}`, { key: as })

t.test('a worker is told by a key that may, and the log says by whom', async (t) => {
  const session = createDatabase({ url, connections: 1, name: 'worker' })
  t.teardown(() => session.end())
  const id = uuidv7()
  await session`select runledger.register_worker(${id}, 'host-a', 42, 3, '{}', 3600)`
  const reader = await issueOperatorKey(sql, { readOnly: true })
  for (const word of ['pause', 'drain', 'resume']) {
    t.match(await order(id, word, reader.key), { status: 403, body: { error: 'forbidden' } })
    t.match(await order(id, word, await issue()), { status: 403 })
    t.match(await order(id, word, null), { status: 401 })
  }
  t.strictSame(await readStream(sql, id), [], 'what was refused is no event')

  const answer = await order(id, 'pause')
  t.match(answer, { status: 200, body: { id, state: 'paused', wanted: 'paused', changed: true } })
  t.match(await order(id, 'pause'), { status: 200, body: { state: 'paused', changed: false } })
  t.match(await order(id, 'resume'), { body: { state: 'working', changed: true } })
  t.match(await order(id, 'drain'), { body: { state: 'draining', wanted: 'drained' } })
  t.match(await order(id, 'resume'), { body: { wanted: 'drained', changed: false } })
  const events = await readStream(sql, id)
  const types = events.map(({ type }) => type)
  t.strictSame(types, ['worker.paused', 'worker.resumed', 'worker.drained'])
  for (const { metadata } of events)
    t.match(metadata, { request: String, actor: { api_key: operatorId } })
  await sql`select runledger.stop_worker(${id})`
  t.match(await order(id, 'pause'), { status: 404 }, 'it has ended')
})

t.test('who is no worker is none', async (t) => {
  for (const id of [uuidv7(), 'nobody', '%00'])
    t.match(await order(id, 'pause'), { status: 404 }, id)
  t.match(await call('POST', `/api/operator/workers/${uuidv7()}/pause?now=1`, { key }), { status: 400 }) // prettier-ignore
  t.match(await call('GET', `/api/operator/workers/${uuidv7()}/pause`, { key, checked: false }), { status: 405 }) // prettier-ignore
  t.match(await order(uuidv7(), 'restart'), { status: 404 })
})
