// Compares requests to the web process with a bare polka route, with 1, 16 and 64 connections: an accepted submission (on
// disk when answered), 401, 429, 503 of a full queue, a finished result, and a `wait=true` round trip through a worker whose
// executor runs nothing.
// The floor is the same POST to a bare route in a separate process that uses no database. The difference to the floor is the
// key's look-up, for a submission also the disk, and for a round trip also the queue and two commits. All processes share the
// machine's cores with the client, so with many connections the rate, not the latency, is the figure to read.
// The bench fails when a full queue refuses later than the contract says.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { createDatabase } from '#database'
import { finish } from '../../test/helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../../test/helper/submission.ts'
import { startCluster } from '../database.ts'
import { measure } from '../measure.ts'
import type { Case } from '../measure.ts'
import { isQuick, report, scaleIterations } from '../report.ts'
import { startService } from './service.ts'

const connectionCounts = [1, 16, 64] as const
// The contract's bound for the refusal by a full queue.
const refusalMilliseconds = 20
const submission = JSON.stringify({ language: 'python', code: 'print("hello")\n' })

await using cleanUp = new AsyncDisposableStack()
const directory = mkdtempSync(join(tmpdir(), 'runledger-bench-'))
cleanUp.defer(() => rmSync(directory, { recursive: true, force: true }))
const cluster = cleanUp.use(await startCluster())
const bare = cleanUp.use(await startService('bench/http/bare-polka.ts', 'bare.started', {}))
const accepting = await startStack('accepting', { QUEUE_CAPACITY: '1000000' })
const full = await startStack('full', { QUEUE_CAPACITY: '1' })
const working = await startStack('working', { QUEUE_CAPACITY: '1000000' })
cleanUp.use(
  await startService('bench/http/empty-worker.ts', 'worker.started', {
    DATABASE_URL: working.url,
    SLOTS: '2',
    FIRST_UID: String(210_000 + (process.pid % 5000) * 8),
    CACHE_DIRECTORY: join(directory, 'cache'),
  }),
)

const beta = await createCaller(accepting.sql, 'beta')
const finished = await submitNew(
  accepting.sql,
  accepting.caller,
  describeSubmission({ code: 'print("hello")\n' }),
)
await finish(accepting.sql, finished, { stdout: 'hello\n' })
await submitNew(full.sql, full.caller, describeSubmission({ code: '' }))

/** One kind of request. */
interface Route {
  readonly name: string
  readonly port: number
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly status: number
  readonly key?: string
  readonly body?: string
  /** Calls per round for 1, 16 and 64 connections. */
  readonly iterations: readonly [number, number, number]
  readonly prepare?: () => Promise<void>
}

const often = [200, 400, 400] as const
const submitPath = '/api/submit'
const submitting = { method: 'POST', path: submitPath, body: submission } as const
const routes: readonly Route[] = [
  {
    ...submitting,
    name: 'bare polka',
    port: portOf(bare),
    path: '/',
    status: 200,
    iterations: often,
  },
  {
    ...submitting,
    name: '401',
    port: accepting.port,
    // The key is well-formed, so that the web process looks it up.
    key: await createStranger(),
    status: 401,
    iterations: often,
  },
  {
    ...submitting,
    name: '429',
    port: accepting.port,
    key: beta.key,
    status: 429,
    iterations: [200, 320, 320],
    prepare: useUpWindow,
  },
  {
    name: 'get result',
    method: 'GET',
    path: `/api/result/${finished}`,
    port: accepting.port,
    key: accepting.caller.key,
    status: 200,
    iterations: [200, 320, 320],
  },
  {
    ...submitting,
    name: 'submit',
    port: accepting.port,
    key: accepting.caller.key,
    status: 202,
    iterations: [50, 128, 128],
    prepare: emptyQueue,
  },
  {
    ...submitting,
    name: '503 queue full',
    port: full.port,
    key: full.caller.key,
    status: 503,
    iterations: [200, 320, 320],
  },
  {
    ...submitting,
    name: 'wait=true, nothing run',
    port: working.port,
    path: `${submitPath}?wait=true`,
    key: working.caller.key,
    status: 200,
    iterations: [20, 64, 64],
  },
]

const rows = await measure(
  routes.flatMap((route) => connectionCounts.map((_, n) => toCase(route, n))),
)
const refusal = rows.find(({ name }) => name === '503 queue full, 1 connection')
report('http/route', rows, {
  notes: [
    `a full queue refuses within ${refusal?.p99.toFixed(1)} ms (p99, one at a time); the contract says ${refusalMilliseconds} ms`,
  ],
  // In a quick run the p99 of few calls is their slowest, so it is not judged.
  failures:
    isQuick || (refusal?.p99 ?? Infinity) <= refusalMilliseconds
      ? []
      : [`a full queue refuses later than ${refusalMilliseconds} ms (p99, one at a time)`],
})

function toCase(route: Route, index: number): Case {
  const connections = connectionCounts[index] ?? 1
  const suffix = `, ${connections} connection${connections === 1 ? '' : 's'}`
  const pool = new Pool(`http://127.0.0.1:${route.port}`, { connections })
  cleanUp.defer(() => pool.close())
  return {
    name: `${route.name}${suffix}`,
    ...(route.name !== 'bare polka' && { floor: `bare polka${suffix}` }),
    atOnce: connections,
    iterations: scaleIterations(route.iterations[index] ?? 1, connections),
    ...(route.prepare !== undefined && { prepare: route.prepare }),
    async run() {
      const { statusCode, body } = await pool.request({
        method: route.method,
        path: route.path,
        headers: { 'X-API-Key': route.key ?? '', 'Content-Type': 'application/json' },
        body: route.body ?? null,
      })
      const text = await body.text()
      assert.equal(statusCode, route.status, text)
    },
  }
}

/** Starts a separate database and web process. */
async function startStack(name: string, environment: Readonly<Record<string, string>>) {
  const url = await cluster.createDatabase(name)
  const sql = createDatabase({ url, connections: 2, name: 'bench' })
  cleanUp.defer(() => sql.end({ timeout: 5 }))
  const caller = await createCaller(sql)
  const web = cleanUp.use(
    await startService('src/server/server.ts', 'web.started', {
      DATABASE_URL: url,
      PORT: '0',
      ...environment,
    }),
  )
  return { url, sql, caller, port: portOf(web) }
}

function portOf({ started }: { readonly started: Readonly<Record<string, unknown>> }): number {
  return Number(started['port'])
}

/** Returns a key whose digest is in no row. */
async function createStranger(): Promise<string> {
  const { key, apiKeyId } = await createCaller(accepting.sql)
  await accepting.sql`update runledger.api_key set digest = sha256('stranger') where id = ${apiKeyId}`
  return key
}

async function useUpWindow(): Promise<void> {
  await accepting.sql`
    insert into runledger.rate_window (api_key_id, admitted_at, requests)
    values (${beta.apiKeyId}, array_fill(now(), array[60]), array_fill(1, array[60]))
    on conflict (api_key_id) do update set admitted_at = excluded.admitted_at, requests = excluded.requests`
}

/** Empties the queue. No worker takes jobs there, so otherwise each round would find a longer queue than the one before. */
async function emptyQueue(): Promise<void> {
  await accepting.sql`truncate runledger.pending, graphile_worker._private_jobs`
}
