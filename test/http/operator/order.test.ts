// Operators pause, drain and resume workers over HTTP. Real workers obey, and the log names the operator.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { readStream } from '#event'
import { createTestDatabase } from '../../helper/database.ts'
import { issueOperatorKey } from '../../helper/operator.ts'
import { startServer } from '../../helper/server.ts'
import type { Answer } from '../../helper/server.ts'
import { startWorkerProcess } from '../../helper/worker.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
// The server has only the database rights of the web process.
const { call, issue } = await startServer(t, sql, { url: `${url}?role=runledger_api` })
const { key, id: operatorId } = await issueOperatorKey(sql)
const order = (id: string, word: string, as: string | null = key): Promise<Answer> =>
  call('POST', `/api/operator/workers/${id}/${word}`, { key: as })

t.test('a worker that is paused takes nothing until it is resumed', async (t) => {
  const worker = await startWorkerProcess(t, url)
  const [row] = await sql`select id from runledger.worker where stopped_at is null`
  const id = row?.['id'] as string
  const reader = await issueOperatorKey(sql, { readOnly: true })
  for (const word of ['pause', 'drain', 'resume']) {
    t.match(await order(id, word, reader.key), { status: 403, body: { error: 'forbidden' } })
    t.match(await order(id, word, await issue()), { status: 403 })
    t.match(await order(id, word, null), { status: 401 })
  }
  t.strictSame(await readStream(sql, id), [], 'what was refused is no event')

  t.match(await order(id, 'pause'), {
    status: 200,
    body: { id, state: 'paused', wanted: 'paused', changed: true },
  })
  t.match(await order(id, 'pause'), { status: 200, body: { state: 'paused', changed: false } })
  const heeded = (message: string): boolean => worker.logged.includes(message)
  while (!heeded('worker.paused')) await sleep(50)
  const waiting = (await call('POST', '/api/submit', { body: { language: 'python', code: 'print(1)' } })).body.id as string // prettier-ignore
  await sleep(1500)
  t.equal((await call('GET', `/api/result/${waiting}`)).body.status, 'queued')
  t.match(await order(id, 'resume'), { body: { state: 'working', changed: true } })
  t.match(await call('GET', `/api/result/${waiting}?wait=true`), { body: { verdict: 'AC' } })

  // Until it is cancelled, the worker cannot end.
  const sleeper = { language: 'python', code: 'import time; time.sleep(300)', limits: { wall_time: 300 } } // prettier-ignore
  const held = (await call('POST', '/api/submit', { body: sleeper })).body.id as string
  while ((await call('GET', `/api/result/${held}`)).body.status !== 'running') await sleep(50)
  t.match(await order(id, 'drain'), { body: { state: 'draining', wanted: 'drained' } })
  t.match(await order(id, 'resume'), { body: { wanted: 'drained', changed: false } })
  await call('POST', `/api/result/${held}/cancel`)
  t.strictSame(await worker.ended, [0, null])
  const events = await readStream(sql, id)
  t.strictSame(
    events.map(({ type }) => type),
    ['worker.paused', 'worker.resumed', 'worker.drained'],
  )
  for (const { metadata } of events)
    t.match(metadata, { request: String, actor: { api_key: operatorId } })
  t.match(await order(id, 'pause'), { status: 404 }, 'it has ended')
})

t.test('who is no worker is none', async (t) => {
  for (const id of [uuidv7(), 'nobody', '%00'])
    t.match(await order(id, 'pause'), { status: 404 }, id)
  t.match(await call('POST', `/api/operator/workers/${uuidv7()}/pause?now=1`, { key }), { status: 400 }) // prettier-ignore
  t.match(await call('GET', `/api/operator/workers/${uuidv7()}/pause`, { key, checked: false }), { status: 405 }) // prettier-ignore
  t.match(await order(uuidv7(), 'restart'), { status: 404 })
})
