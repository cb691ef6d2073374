// What becomes of the service when too much comes at once, and of what it holds in memory:
// 1. 2,000 clients, each with a connection of its own, ask at the same instant and wait for their results.
// 2. 100,000 submissions wait (or as many as half of the time is enough for) and nothing takes them: a submission over HTTP
//    against one to an empty queue, its floor.
// 3. A worker is started into that: how soon its first program ends, and how many a second from then on.
// Programs run nothing. It fails when a client is left without its result, or a process grows beyond its bound.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { createDatabase } from '#database'
import { createReceive } from '#enqueue'
import { createId } from '#id'
import { createCaller, describeContext, describeSubmission } from '../../test/helper/submission.ts'
import { startCluster } from '../database.ts'
import { readMegabytes, readStatus } from '../http/memory.ts'
import { startService } from '../http/service.ts'
import type { Service } from '../http/service.ts'
import { median } from '../measure.ts'
import { deadline } from '../options.ts'
import { isQuick, report, scaleIterations } from '../report.ts'
import { digits } from '../table.ts'

const clients = isQuick ? 200 : 2000
const wanted = isQuick ? 5000 : 100_000
const fillers = 64
const single = scaleIterations(200)
const drainSeconds = 5
// What an idle process has is some 100 MB; per client or per waiting submission there is to be next to nothing.
const mostMegabytes = 400
const body = JSON.stringify({ language: 'python', code: 'print("hello")\n' })

await using cleanUp = new AsyncDisposableStack()
const directory = mkdtempSync(join(tmpdir(), 'runledger-bench-'))
cleanUp.defer(() => rmSync(directory, { recursive: true, force: true }))
const cluster = cleanUp.use(await startCluster())
const url = await cluster.createDatabase('pressure')
const sql = createDatabase({ url, connections: 10, name: 'bench', statementSeconds: 60 })
cleanUp.defer(() => sql.end({ timeout: 5 }))
const caller = await createCaller(sql)
const { key } = caller
const web = cleanUp.use(
  await startService('src/server/server.ts', 'web.started', {
    DATABASE_URL: url,
    PORT: '0',
    QUEUE_CAPACITY: '1000000',
    SYNC_WAIT_SECONDS: '120',
  }),
)
const webPid = Number(web.started['pid'])
const pool = new Pool(`http://127.0.0.1:${Number(web.started['port'])}`, { connections: clients })
cleanUp.defer(() => pool.close())

const notes: string[] = []
const figures: Record<string, number> = {}
const failures: string[] = []

await crowd()
const empty = await submitOneByOne()
const queued = await fill()
const full = await submitOneByOne()
tell(`a submission over HTTP, p50 with an empty queue, ms`, empty)
tell(`a submission over HTTP, p50 with ${queued.toLocaleString('en')} queued, ms`, full)
tell('memory of web with all queued, MB', readMegabytes(webPid))
await startInto()
tell('memory of web at its most, MB', readMost(webPid))
report('scale/pressure', [], { notes, figures, failures })

/** All at once, each on a new connection, for a result. */
async function crowd(): Promise<void> {
  tell('memory of web before, MB', readMegabytes(webPid))
  await using worker = await startWorker('crowd')
  const startedAt = performance.now()
  const answers = await Promise.all(
    Array.from({ length: clients }, () =>
      ask('/api/submit?wait=true').catch(() => ({ status: 0, milliseconds: 0 })),
    ),
  )
  const seconds = (performance.now() - startedAt) / 1000
  const refused = answers.filter(({ status }) => status !== 200)
  const sorted = answers.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b)
  tell(`${clients} clients at once, a second`, clients / seconds)
  tell(`${clients} clients at once, p50 ms`, median(sorted))
  tell(`${clients} clients at once, slowest ms`, sorted.at(-1) ?? Number.NaN)
  tell('memory of web after them, MB', readMegabytes(webPid))
  const pid = Number(worker.started['pid'])
  tell('memory of worker after them, MB', readMegabytes(pid))
  hold('worker', pid)
  if (refused.length > 0) {
    failures.push(`${refused.length} of ${clients} had no result: ${refused[0]?.status}`)
  }
}

/** Puts as many into the queue as there is time for. */
async function fill(): Promise<number> {
  const submission = describeSubmission({ code: 'print("hello")\n' })
  const receive = createReceive(sql)
  const { signal } = new AbortController()
  const endsAt = performance.now() + (deadline - performance.now()) / 2
  let count = 0
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: fillers }, async () => {
      while (count < wanted && performance.now() < endsAt) {
        count += 1
        const context = { ...describeContext(caller), capacity: 1_000_000 }
        const { kind } = await receive([{ id: createId(), submission }], context, signal)
        assert.equal(kind, 'received')
      }
    }),
  )
  tell('queued, a second', (count * 1000) / (performance.now() - startedAt))
  return count
}

/** A worker that finds all of it waiting. */
async function startInto(): Promise<void> {
  const before = await countPending()
  const startedAt = performance.now()
  await using worker = await startWorker('into')
  tell('worker started into it, ready after ms', performance.now() - startedAt)
  while ((await countPending()) === before) await sleep(10)
  tell('worker started into it, first end after ms', performance.now() - startedAt)
  const from = { pending: await countPending(), at: performance.now() }
  await sleep(drainSeconds * 1000)
  const done = from.pending - (await countPending())
  tell('worker started into it, a second', (done * 1000) / (performance.now() - from.at))
  const pid = Number(worker.started['pid'])
  tell('memory of worker at its most, MB', readMost(pid))
  hold('worker', pid)
  hold('web', webPid)
}

function startWorker(name: string): Promise<Service> {
  return startService('bench/http/empty-worker.ts', 'worker.started', {
    DATABASE_URL: url,
    SLOTS: '8',
    FIRST_UID: String(240_000 + (process.pid % 5000) * 8),
    CACHE_DIRECTORY: join(directory, name),
  })
}

/** @returns the median of some, one after another. */
async function submitOneByOne(): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < single; n += 1) {
    const { status, milliseconds } = await ask('/api/submit')
    assert.equal(status, 202)
    times.push(milliseconds)
  }
  return median(times)
}

async function ask(
  path: string,
): Promise<{ readonly status: number; readonly milliseconds: number }> {
  const startedAt = performance.now()
  const answer = await pool.request({
    method: 'POST',
    path,
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body,
    headersTimeout: 0,
  })
  await answer.body.text()
  return { status: answer.statusCode, milliseconds: performance.now() - startedAt }
}

async function countPending(): Promise<number> {
  const [row] = await sql`select count(*)::integer as count from runledger.pending`
  return row?.['count'] as number
}

function tell(name: string, value: number): void {
  figures[name] = value
  notes.push(`${name}: ${digits(value)}`)
}

/** The most resident memory that a process ever had, in megabytes. */
function readMost(pid: number): number {
  return ((readStatus(pid)?.('VmHWM') ?? 0) * 1024) / 1e6
}

function hold(what: string, pid: number): void {
  const most = readMost(pid)
  if (most > mostMegabytes)
    failures.push(`${what} had ${digits(most)} MB, more than ${mostMegabytes}`)
}
