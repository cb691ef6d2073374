// A worker's database goes away while programs run. Their results are stored within two seconds of its return, whether the
// programs ended before or after it, and the next program starts as soon. The worker does not storm the database.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openTestDatabase } from '../helper/database.ts'
import { readStatus } from '../helper/ledger.ts'
import { freezeServer, median, secondsUntil } from '../helper/outage.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'
import { startWorkerProcess } from '../helper/worker.ts'

// The test uses a separate server, because one of the outages stops all processes of the server.
const { sql, url } = await openTestDatabase(t, { ownServer: true })
const proxy = await startTcpProxy(url)
t.teardown(() => proxy.close())
// On a slow machine a worker with a shorter lease fences itself before it has connected again after the longest outage.
const worker = await startWorkerProcess(t, proxy.url, { LEASE_SECONDS: '22' })
const caller = await createCaller(sql)

const submit = (code: string): Promise<string> =>
  submitNew(sql, caller, describeSubmission({ code }))
const hasStatus = async (id: string, status: string): Promise<boolean> =>
  (await readStatus(sql, id)) === status

/** Starts an outage. @returns a function that ends it. */
type Outage = () => Promise<() => Promise<void> | void>

const outages: Readonly<Record<string, Outage>> = {
  'packets are lost, and the connections with them': async () => {
    proxy.blackHole()
    return proxy.restore
  },
  'the server is frozen': () => freezeServer(sql),
}

for (const [name, begin] of Object.entries(outages)) {
  t.test(`${name}: results and programs go on in time`, async (t) => {
    const [floors, kept, taken]: [number[], number[], number[]] = [[], [], []]
    for (const outageMilliseconds of [3000, 4100, 5300]) {
      // What this machine takes while all is well.
      const usual = await submit('')
      floors.push(await secondsUntil(() => hasStatus(usual, 'completed')))
      // This program ends during the outage, and its result waits for the database.
      const first = await submit('import time; time.sleep(2)')
      // This program ends after the outage, so its result is the first message on these connections.
      const second = await submit('import sys, time; time.sleep(8)')
      for (const id of [first, second]) while (!(await hasStatus(id, 'running'))) await sleep(20)
      const waiting = await submit('')
      const attempts = proxy.attempts
      const end = await begin()
      const startedAt = performance.now()
      await sleep(outageMilliseconds)
      const during = (proxy.attempts - attempts) / ((performance.now() - startedAt) / 1000)
      t.ok(during <= 20, `${during.toFixed(1)} connections a second`)
      await end()
      kept.push(await secondsUntil(() => hasStatus(first, 'completed')))
      taken.push(await secondsUntil(() => hasStatus(waiting, 'completed')))
      await secondsUntil(() => hasStatus(second, 'completed'))
    }
    const show = (figures: readonly number[]): string =>
      figures.map((figure) => figure.toFixed(2)).join(' ')
    t.comment(`usually ${show(floors)} s, results after ${show(kept)} s, another program's after ${show(taken)} s more`) // prettier-ignore
    // Two seconds are promised. A wait for the kernel or for a timeout of the driver would take five to seven.
    t.ok(median(kept) < 3 + median(floors), 'a result')
    t.ok(median(taken) < 3 + median(floors), 'a program that waited')
    const [runs] = await sql`
      select count(*) as count from runledger.event where type = 'execution.interrupted'`
    t.equal(runs?.['count'], 0, 'no run was given up')
    t.notOk(worker.logged.includes('worker.fenced'))
  })
}
