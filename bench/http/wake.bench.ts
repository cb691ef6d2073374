// Measures the time from the commit that ends a submission until the waiting client has the complete answer, while 2,000 other
// clients wait on the same web process. The clock starts when COMMIT is sent, so the figure includes the disk. Floor: a bare
// NOTIFY in an equally durable transaction, from COMMIT to the listener. The bench fails when the contract's bound is exceeded.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { completeExecution, startExecution } from '../../test/helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../../test/helper/submission.ts'
import { insertDurably, startCluster } from '../database.ts'
import { measure } from '../measure.ts'
import { isQuick, report, scaleIterations } from '../report.ts'
import { startService } from './service.ts'

const waiters = isQuick ? 500 : 2000
// The contract's bound.
const wakeMilliseconds = 20

await using cleanUp = new AsyncDisposableStack()
const cluster = cleanUp.use(await startCluster())
const url = await cluster.createDatabase('wake')
const sql = createDatabase({ url, connections: 8, name: 'bench' })
cleanUp.defer(() => sql.end({ timeout: 5 }))
const caller = await createCaller(sql)
const web = await startService('src/server/server.ts', 'web.started', {
  DATABASE_URL: url,
  PORT: '0',
  SYNC_WAIT_SECONDS: '600',
})
cleanUp.use(web)
const origin = `http://127.0.0.1:${Number(web.started['port'])}`
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
cleanUp.defer(() => agent.destroy())
const submission = describeSubmission({ code: 'print("hello")\n' })

let notified = (): void => {}
await sql.listen('bench', () => notified())

const others = await startWaiters()
const rows = await measure([
  { name: 'bare notify', iterations: scaleIterations(60), run: notifyBare },
  {
    name: `woken, ${waiters} wait`,
    floor: 'bare notify',
    iterations: scaleIterations(60),
    run: wakeOne,
  },
])
const [connections] = await sql`
  select count(*)::integer as count from pg_stat_activity
  where datname = current_database() and application_name like 'runledger%'`
const woken = rows.at(-1)
report('http/wake', rows, {
  notes: [
    `${others.open} waiters and ${connections?.['count']} database connections of the web process`,
    `woken within ${woken?.p99.toFixed(1)} ms of sending the commit (p99); the contract says ${wakeMilliseconds} ms`,
  ],
  failures: [
    ...(others.open === waiters ? [] : [`only ${others.open} of ${waiters} waited to the end`]),
    // In a quick run the p99 of few calls is their slowest, so it is not judged.
    ...(isQuick || (woken?.p99 ?? Infinity) <= wakeMilliseconds
      ? []
      : [`woken later than ${wakeMilliseconds} ms after the commit (p99)`]),
  ],
})

/** Starts the waiting clients. Each waits for a different submission that never ends. */
async function startWaiters(): Promise<{ readonly open: number }> {
  let open = waiters
  const left = Array.from({ length: waiters }, (_, n) => n)
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (left.pop() !== undefined) {
        const id = await submitNew(sql, caller, submission, { capacity: 1_000_000 })
        void wait(id).then(
          () => (open -= 1),
          () => (open -= 1),
        )
      }
    }),
  )
  while ((await countAwaited()) < waiters) await sleep(100)
  return {
    get open() {
      return open
    },
  }
}

async function wait(id: string): Promise<string> {
  const { body, statusCode } = await agent.request({
    origin,
    method: 'GET',
    path: `/api/result/${id}?wait=true`,
    headers: { 'X-API-Key': caller.key },
  })
  const text = await body.text()
  assert.equal(statusCode, 200, text)
  return text
}

async function countAwaited(): Promise<number> {
  const [row] =
    await sql`select count(*)::integer as count from runledger.pending where waiters is not null`
  return row?.['count'] as number
}

async function wakeOne(): Promise<{ overriddenDuration: number }> {
  const id = await submitNew(sql, caller, submission, { capacity: 1_000_000 })
  const version = await startExecution(sql, id)
  assert(version !== null)
  const answer = wait(id)
  while (!(await isAwaited(id))) await sleep(1)
  return timeCommit(async (transaction) => {
    await completeExecution(transaction, id, version, { stdout: 'hello\n' })
  }, answer)
}

/** True once the web process waits for the submission: it registers the waiter before it writes this row. */
async function isAwaited(id: string): Promise<boolean> {
  const found =
    await sql`select from runledger.pending where submission_id = ${id} and waiters is not null`
  return found.length > 0
}

async function notifyBare(): Promise<{ overriddenDuration: number }> {
  const heard = new Promise<void>((resolve) => (notified = resolve))
  return timeCommit(async (transaction) => {
    await insertDurably(transaction, submission.code)
    await transaction`select pg_notify('bench', '')`
  }, heard)
}

async function timeCommit(
  work: (transaction: Database) => Promise<void>,
  end: Promise<unknown>,
): Promise<{ overriddenDuration: number }> {
  let start = 0
  const committed = sql.begin(async (transaction) => {
    // A transaction runs queries like a database. What it lacks (listen, end) is not used here.
    await work(transaction as unknown as Database)
    start = performance.now()
  })
  await end
  const overriddenDuration = performance.now() - start
  await committed
  return { overriddenDuration }
}
