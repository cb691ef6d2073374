// The sweep declares no worker lost that had no chance to renew. After an outage of any kind, workers first get time for it.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase } from '#database'
import { createLog } from '#log'
import { startSweep } from '#sweep'
import { openTestDatabase } from '../helper/database.ts'
import { isAnyWaiting } from '../helper/lock.ts'
import { secondsUntil } from '../helper/outage.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'

const { sql, url } = await openTestDatabase(t)
const proxy = await startTcpProxy(url)
const database = createDatabase({ url: proxy.url, connections: 1, name: 'test sweep' })
const lines: string[] = []
const startedAt = performance.now()
const sweep = startSweep(database, createLog('test', 'info', { write: (line) => lines.push(line) }))
t.teardown(async () => {
  await sweep.stop()
  await database.end({ timeout: 1 })
  await proxy.close()
})

/** Adds a worker that has not renewed its lease for a minute. @returns its id. */
async function addSilentWorker(): Promise<string> {
  const id = uuidv7()
  await sql`
    insert into runledger.worker (id, host, pid, slots, languages, lease_seconds, renewed_at)
    values (${id}, 'test', 1, 1, '{}', 15, now() - interval '1 minute')`
  return id
}

async function isGivenUp(id: string): Promise<boolean> {
  const [row] =
    await sql`select stopped_at is not null as stopped from runledger.worker where id = ${id}`
  return row?.['stopped'] as boolean
}

t.test('a silent worker is given up at the next sweep', async (t) => {
  const id = await addSilentWorker()
  t.ok((await secondsUntil(() => isGivenUp(id))) < 30)
  t.ok(performance.now() - startedAt > 5000, 'but none right after the start of the process')
  while (!lines.some((line) => line.includes(id))) await sleep(50)
  const told = lines.filter((line) => line.includes(id)).map((line) => JSON.parse(line) as object)
  t.match(told, [{ msg: 'worker.lost', level: 'warn', worker: id, host: 'test', pid: 1 }])
  t.match(await sql`select state from audit.worker where id = ${id}`, [{ state: 'lost' }])
})

for (const outage of ['stop', 'freeze'] as const) {
  t.test(`after an outage (${outage}) the workers get time to renew`, async (t) => {
    await proxy[outage]()
    await sleep(2500)
    const id = await addSilentWorker()
    await proxy.restore()
    // On any machine, at least four seconds lie between the last sign of the outage and the end of the workers' time.
    const restoredAt = performance.now()
    t.ok((await secondsUntil(() => isGivenUp(id))) < 60)
    const seconds = (performance.now() - restoredAt) / 1000
    t.ok(seconds > 3, `${seconds.toFixed(1)} s`)
  })
}

t.test('so they do when only the reconciler’s part of a pass was held up', async (t) => {
  const id = await sql.begin(async (holder) => {
    await holder`lock table runledger.idempotency`
    const isWaiting = (): Promise<boolean> => isAnyWaiting(sql, 'runledger.idempotency')
    t.ok((await secondsUntil(isWaiting)) < 60, 'it comes every ten seconds')
    const added = await addSilentWorker()
    await sleep(2500)
    return added
  })
  const releasedAt = performance.now()
  t.ok((await secondsUntil(() => isGivenUp(id))) < 60)
  const seconds = (performance.now() - releasedAt) / 1000
  t.ok(seconds > 3, `${seconds.toFixed(1)} s`)
})
