// First phase of a start: creates the parts of the web process. None of them listens or sweeps yet.
import { exitForConfig } from '#config'
import { createConsole } from '#console'
import { checkLogin, createDatabase } from '#database'
import type { Database } from '#database'
import { createHttp, createServer } from '#http'
import type { Logger } from '#log'
import { findNewestMigration } from '#migration-file'
import { exitIfOlder } from '#release'
import { createStreams, createWaiter } from '#result'
import type { Streams, Waiter } from '#result'
import type { ServerSettings } from './settings.ts'

// The database ends a statement after these times. Requests stop waiting sooner (http/deadline.ts).
const statementSeconds = 2
// Longer, because one transaction requeues a thousand attempts of lost workers.
const sweepSeconds = 10

export interface Parts {
  readonly settings: ServerSettings
  readonly log: Logger
  /** The sweep has a pool of its own, because a full pool must not keep lost workers from being found. */
  readonly pools: { readonly database: Database; readonly sweep: Database }
  readonly waiter: Waiter
  readonly streams: Streams
  readonly http: ReturnType<typeof createServer>
}

export async function makeParts(settings: ServerSettings, log: Logger): Promise<Parts> {
  const pools = await makePools(settings)
  await exitIfOlder(pools.database, log)
  const { database } = pools
  const waiter = createWaiter(database, (error) => log.warn({ err: error }, 'waiter.failed'))
  const streams = createStreams(database, (error) => log.warn({ err: error }, 'stream.failed'))
  const app = createHttp({
    database,
    waiter,
    streams,
    log,
    newestMigration: findNewestMigration(),
    trustProxy: settings.TRUST_PROXY,
    syncWaitSeconds: settings.SYNC_WAIT_SECONDS,
    queueCapacity: settings.QUEUE_CAPACITY,
    webhookRules: settings.webhookRules,
    corsOrigins: settings.CORS_ORIGINS,
    receiptKey: settings.receiptKey,
    doors: settings.doors,
    console: createConsole(),
  })
  return { settings, log, pools, waiter, streams, http: createServer(app, { tls: settings.tls }) }
}

async function makePools({
  DATABASE_URL: url,
  DATABASE_CONNECTIONS,
}: ServerSettings): Promise<Parts['pools']> {
  const database = createDatabase({
    url,
    connections: DATABASE_CONNECTIONS,
    name: 'runledger web',
    statementSeconds,
  })
  // No role is required here, because a release may be about to grant it. /readyz reports a missing role.
  const refusal = await checkLogin(database, url, [])
  if (refusal !== null) exitForConfig(`DATABASE_URL: ${refusal}`)
  const sweep = createDatabase({
    url,
    connections: 1,
    name: 'runledger sweep',
    statementSeconds: sweepSeconds,
  })
  return { database, sweep }
}
