// The database becomes unavailable in several ways, and comes back. Answers stay quick and plain, the process lives, the
// service recovers by itself within two seconds, and it does not flood the returning database with connections.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openTestDatabase } from '../helper/database.ts'
import { findAwaited, finish } from '../helper/execution.ts'
import { freezeServer, median, secondsUntil } from '../helper/outage.ts'
import { startServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'

// A separate PostgreSQL server, because one of the outages stops all of its processes.
const { sql, url } = await openTestDatabase(t, { ownServer: true })
const proxy = await startTcpProxy(url)
const { call, issue } = await startServer(t, sql, { url: proxy.url })
t.teardown(() => proxy.close())
const python = { language: 'python', code: '' }
const connections = 10

/** Starts an outage. @returns a function that ends it. */
type Outage = () => Promise<() => Promise<void> | void>

const outages: Readonly<Record<string, Outage>> = {
  'nobody listens': async () => {
    await proxy.stop()
    return proxy.restore
  },
  'packets are lost for a while': async () => {
    proxy.freeze()
    return proxy.restore
  },
  'packets are lost, and the connections with them': async () => {
    proxy.blackHole()
    return proxy.restore
  },
  'the server is frozen': () => freezeServer(sql),
}

const submit = (): Promise<Answer> => call('POST', '/api/submit', { body: python })
const isAccepted = async (): Promise<boolean> => (await submit()).status === 202

/** Submits for this time, more at once than there are connections. @returns the seconds of the slowest answer. */
async function askFor(milliseconds: number): Promise<number> {
  const asked: Promise<number>[] = []
  for (const end = performance.now() + milliseconds; performance.now() < end; await sleep(1300)) {
    for (let n = 0; n < 2 * connections; n += 1) {
      asked.push(secondsUntil(async () => (await submit()).status > 0))
    }
  }
  return Math.max(...(await Promise.all(asked)))
}

for (const [name, begin] of Object.entries(outages)) {
  t.test(`${name}: answers are 503 unavailable and say nothing of ours`, async (t) => {
    await secondsUntil(isAccepted)
    const end = await begin()
    const answers = await Promise.all([
      ...Array.from({ length: 30 }, submit),
      call('GET', '/api/languages'),
      call('GET', '/api/result/x'),
      call('GET', '/readyz'),
    ])
    for (const { status, body, headers, text } of answers) {
      t.equal(status, 503)
      t.equal(body.error, 'unavailable')
      t.ok(Number(headers['retry-after']) >= 1)
      t.notMatch(text, /ECONN|CONNECTION|postgres|127\.0\.0\.1/)
    }
    t.equal((await call('GET', '/healthz')).status, 200, 'the process lives')
    t.equal((await call('POST', '/api/submit', { key: null, body: python })).status, 401)
    const metrics = await call('GET', '/metrics', { checked: false })
    t.match(metrics.text, /^runledger_database_up 0$/m)
    await end()
    await secondsUntil(isAccepted)
  })

  t.test(`${name}: answers come in time, and so does the end of it`, async (t) => {
    const [floors, slowest, recoveries, during, after]: [number[], number[], number[], number[], number[]] = [[], [], [], [], []] // prettier-ignore
    // Uses all connections of the pool, because a single one may be alive by luck.
    const askAll = async (): Promise<number> =>
      Math.max(...(await Promise.all(Array.from({ length: 3 * connections }, () => secondsUntil(isAccepted))))) // prettier-ignore
    // The lengths differ, because retries have a rhythm of their own. Each outage is long enough for the old connections to
    // be found dead, and too short for the driver to abandon the new connections that it then makes.
    for (const outageMilliseconds of [2900, 3500, 4300]) {
      const floor = await askAll() // what this machine takes while all is well
      floors.push(floor)
      let attempts = proxy.attempts
      const end = await begin()
      const startedAt = performance.now()
      const asking = askFor(outageMilliseconds)
      await sleep(outageMilliseconds)
      during.push((proxy.attempts - attempts) / ((performance.now() - startedAt) / 1000))
      attempts = proxy.attempts
      await end()
      recoveries.push(await secondsUntil(isAccepted))
      slowest.push(await asking)
      t.ok((await askAll()) < 3 + floor, 'a dead connection costs more')
      after.push(proxy.attempts - attempts)
    }
    const show = (figures: readonly number[]): string =>
      figures.map((figure) => figure.toFixed(2)).join(' ')
    t.comment(`answered after ${show(slowest)} s, back after ${show(recoveries)} s`)
    t.comment(`${show(during)} connections a second, ${show(after)} to be back`)
    // Two seconds are promised. A request that waits for the kernel or for a timeout of the driver takes five to seven.
    t.ok(median(slowest) < 3 + median(floors), 'an answer')
    t.ok(median(recoveries) < 3 + median(floors), 'the recovery')
    t.ok(Math.max(...during) <= 20, 'connections during the outage')
    t.ok(Math.max(...after) <= 4 * connections, 'connections after it')
  })

  t.test(`${name}: who waited through it gets the record`, async (t) => {
    await sql`delete from runledger.pending`
    const waiting = call('POST', '/api/submit?wait=true', { body: python })
    const id = await findAwaited(sql)
    // The row exists a moment before the web server learns of it. An outage in between causes a 503.
    await sleep(500)
    const isReachable = name !== 'the server is frozen'
    const end = await begin()
    if (isReachable) await finish(sql, id, { stdout: 'x' })
    await sleep(3000)
    await end()
    if (!isReachable) await finish(sql, id, { stdout: 'x' })
    const { status, body } = await waiting
    t.equal(status, 200)
    t.match(body, { id, stdout: 'x' })
  })
}

t.test('a request that was answered without the database does not count', async (t) => {
  const key = await issue('beta')
  proxy.blackHole()
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => call('GET', '/api/languages', { key })),
  )
  t.ok(answers.every(({ status }) => status === 503))
  await proxy.restore()
  await secondsUntil(isAccepted)
  const { headers } = await call('GET', '/api/languages', { key })
  // This request counts, and so does the check of the new key in `issue`.
  t.match(headers['ratelimit'], /^"requests";r=58;/)
})
