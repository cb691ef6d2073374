// Idempotency-Key: one key makes one submission, whatever happens, and the caller can recognise a replay.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { finish } from '../helper/execution.ts'
import { startFreshServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'

const server = await startFreshServer(t, { queueCapacity: 150, atOnce: 20 })
const { call, sql } = server
const python = { language: 'python', code: 'print(1)' }

const submit = (key: string, body: unknown = python, query = ''): Promise<Answer> =>
  call('POST', `/api/submit${query}`, { headers: { 'Idempotency-Key': key }, body })

const age = (key: string, interval: string): Promise<unknown> =>
  sql`update runledger.idempotency set created_at = now() - ${interval}::interval where key = ${key}`

t.test('100 concurrent requests with one key make one submission', async (t) => {
  const key = randomUUID()
  let refused = 0
  const insist = async (): Promise<Answer> => {
    const answer = await submit(key)
    // A slow machine may answer 503 although it received the request. The key makes it safe to repeat.
    if (answer.status !== 503) return answer
    refused += 1
    await sleep(100)
    return insist()
  }
  const answers = await Promise.all(Array.from({ length: 100 }, insist))
  t.equal(new Set(answers.map(({ body }) => body.id)).size, 1)
  t.ok(answers.every(({ status }) => status === 202))
  const first = answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined)
  if (refused === 0) t.equal(first.length, 1)
  t.ok(first.length <= 1)
  for (const { body } of first) t.strictSame(Object.keys(body), ['id'])
  const id = answers[0]?.body.id
  const [row] = await sql`
    select count(*) as jobs from graphile_worker.jobs where key = ${id}`
  t.equal(row?.['jobs'], 1)
  const [events] = await sql`select count(*) as count from runledger.event where stream_id = ${id}`
  t.equal(events?.['count'], 1)
})

t.test('a replay is the record as it stands, with 202', async (t) => {
  const key = randomUUID()
  const first = await submit(key)
  const queued = await submit(key)
  t.equal(queued.status, 202)
  t.match(queued.body, { id: first.body.id, status: 'queued', verdict: null })
  t.equal(queued.headers['idempotency-replayed'], 'true')
  t.equal(queued.headers['idempotency-mismatch'], undefined)
  await finish(sql, first.body.id, { stdout: '1\n' })
  const finished = await submit(key)
  t.equal(finished.status, 202)
  t.match(finished.body, { status: 'completed', verdict: 'AC', stdout: '1\n' })
  t.equal(finished.headers.location, `/api/result/${first.body.id}`)
})

t.test('a different body replays too, and the answer says that it differs', async (t) => {
  const key = randomUUID()
  const first = await submit(key)
  const changes = [
    { code: 'x' }, { stdin: 'x' }, { language: 'java' }, { expected_stdout: '' }, { args: ['1'] }, { priority: 'low' },
  ] // prettier-ignore
  for (const change of changes) {
    const { body, headers } = await submit(key, { ...python, ...change })
    t.equal(body.id, first.body.id)
    t.equal(headers['idempotency-mismatch'], 'true', JSON.stringify(change))
  }
})

t.test('the same request in other words is the same request', async (t) => {
  const key = randomUUID()
  await submit(key, { ...python, args: ['1'] })
  const same = await submit(
    key,
    ' {"args":["1"], "stdin":"", "code":"print(\\u0031)", "language":"py"} ',
  )
  t.equal(same.headers['idempotency-mismatch'], undefined)
})

t.test('a refused request does not take its key', async (t) => {
  const key = randomUUID()
  t.equal((await submit(key, { language: 'x' })).status, 400)
  t.equal((await submit(key)).headers['idempotency-replayed'], undefined)
})

t.test('another account may use the same key', async (t) => {
  const key = randomUUID()
  const mine = await submit(key)
  const theirs = await call('POST', '/api/submit', {
    key: await server.issue(),
    headers: { 'Idempotency-Key': key },
    body: python,
  })
  t.not(theirs.body.id, mine.body.id)
  t.equal(theirs.headers['idempotency-replayed'], undefined)
})

t.test('a key is forgotten after 24 hours', async (t) => {
  const key = randomUUID()
  const first = await submit(key)
  await age(key, '23:59:50')
  t.equal((await submit(key)).body.id, first.body.id)
  await age(key, '24:00:01')
  const second = await submit(key)
  t.not(second.body.id, first.body.id)
  t.equal(second.headers['idempotency-replayed'], undefined)
  t.equal((await submit(key)).body.id, second.body.id, 'and remembered anew')
})

t.test('a replay with wait=true attaches to the running submission', async (t) => {
  const key = randomUUID()
  const { body } = await submit(key)
  const waiting = submit(key, python, '?wait=true')
  while (server.waiter.waiting === 0) await new Promise(setImmediate)
  await finish(sql, body.id)
  const { status, body: record, headers } = await waiting
  t.equal(status, 202)
  t.match(record, { id: body.id, status: 'completed' })
  t.equal(headers['idempotency-replayed'], 'true')
})

t.test('a replay needs no place in the queue, a new request does', async (t) => {
  const key = randomUUID()
  const first = await submit(key)
  const refusedKey = randomUUID()
  await Promise.all(
    Array.from({ length: 160 }, () => call('POST', '/api/submit', { body: python })),
  )
  const refused = await submit(refusedKey)
  t.equal(refused.status, 503)
  t.equal((await submit(key)).body.id, first.body.id)
  const [row] =
    await sql`select count(*) as kept from runledger.idempotency where key = ${refusedKey}`
  t.equal(row?.['kept'], 0, 'a refused request does not take its key')
})
