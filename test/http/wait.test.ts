// Waiting is cheap: thousands of waiters share one connection and are woken by the commit. A waiter that leaves is forgotten.
import { once } from 'node:events'
import { request } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { finish, listPending } from '../helper/execution.ts'
import { startFreshServer, startServer } from '../helper/server.ts'
import { until } from '../helper/until.ts'

const { call, issue, port, waiter, sql, url } = await startFreshServer(t, { syncWaitSeconds: 300 })
const key = await issue()
const code = JSON.stringify({ language: 'python', code: '' })

function submitAndWait(): ClientRequest {
  const outgoing = request({
    host: '127.0.0.1', port, method: 'POST', path: '/api/submit?wait=true', agent: false,
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json', 'Content-Length': code.length },
  }) // prettier-ignore
  outgoing.on('error', () => {})
  outgoing.end(code)
  return outgoing
}

const countPending = async (): Promise<number> => (await listPending(sql)).length

t.test('2,000 submissions that wait hold no connection each, and all are woken', async (t) => {
  const waiters = 2000
  const responses: Promise<IncomingMessage>[] = []
  /** Submits and waits. Repeats a request that a slow machine refuses. */
  const ask = async (): Promise<IncomingMessage> => {
    const [response] = (await once(submitAndWait(), 'response')) as [IncomingMessage]
    if (response.statusCode !== 503) return response
    response.resume()
    return ask()
  }
  // In waves, because a slow machine would not accept all of them within the time that a request has.
  while (responses.length < waiters) {
    for (let n = 0; n < 50; n += 1) responses.push(ask())
    // One that was refused may be stored all the same.
    await until(
      async () => (await countPending()) >= responses.length && waiter.waiting === responses.length,
    )
  }
  t.equal(waiter.waiting, waiters)
  const [connections] = await sql`
    select count(*) as count from pg_stat_activity
    where datname = current_database() and application_name = 'test web'`
  t.ok((connections?.['count'] as number) <= 11, `${connections?.['count']} connections`)

  const ids = await listPending(sql)
  const finishing = Array.from({ length: 4 }, async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) await finish(sql, id)
  })
  const statuses = await Promise.all(
    responses.map(async (response) => {
      const answer = await response
      answer.resume()
      return answer.statusCode
    }),
  )
  await Promise.all(finishing)
  t.strictSame([...new Set(statuses)], [200])
  t.equal(waiter.waiting, 0)
})

t.test('a client that hangs up is forgotten at once; its submission runs on', async (t) => {
  const before = await countPending()
  const outgoing: ClientRequest[] = []
  /** Submits and waits. Repeats a request that a slow machine refuses. */
  const ask = (place: number): void => {
    outgoing[place] = submitAndWait().once('response', (response) => {
      response.resume()
      ask(place)
    })
  }
  for (let place = 0; place < 50; place += 1) ask(place)
  await until(async () => (await countPending()) >= before + 50 && waiter.waiting === 50)
  const pending = await countPending()
  for (const one of outgoing) one.destroy()
  await until(() => waiter.waiting === 0)
  t.equal(await countPending(), pending)
  const [id = ''] = await listPending(sql)
  await finish(sql, id)
  t.equal((await call('GET', `/api/result/${id}`, { key })).body.status, 'completed')
})

t.test('who hangs up before his long poll has begun to wait is forgotten too', async (t) => {
  const [id = ''] = await listPending(sql)
  const options = { host: '127.0.0.1', port, agent: false, headers: { 'X-API-Key': key } }
  for (let milliseconds = 0; milliseconds < 12; milliseconds += 1) {
    const polls = Array.from({ length: 20 }, () =>
      request({ ...options, path: `/api/result/${id}?wait=true` }).on('error', () => {}),
    )
    for (const poll of polls) poll.end()
    await sleep(milliseconds)
    for (const poll of polls) poll.destroy()
  }
  t.equal((await call('GET', `/api/result/${id}`, { key })).status, 200)
  await sleep(200)
  await until(() => waiter.waiting === 0)
})

t.test('a refused submission that wanted to wait leaves no waiter', async (t) => {
  const { call, waiter } = await startServer(t, sql, { url, queueCapacity: 1 })
  t.equal((await call('POST', '/api/submit?wait=true', { body: code })).status, 503)
  t.equal(waiter.waiting, 0)
})

t.test('the wait is at most what the server allows, whatever the client prefers', async (t) => {
  const { call } = await startServer(t, sql, { url, syncWaitSeconds: 0.2 })
  for (const prefer of ['wait=1000', 'wait=999999999', 'wait=-1', 'wait=x', '']) {
    const { status } = await call('POST', '/api/submit?wait=true', {
      headers: { Prefer: prefer },
      body: code,
    })
    t.equal(status, 408, prefer)
  }
})
