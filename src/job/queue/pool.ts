// graphile-worker's pool. If a connection breaks while a job is marked complete, graphile-worker ends the process, or,
// with batching, silently stops. So failed statements are repeated here on new connections. That is safe: jobs are
// completed and failed by id, and the reconciler finds jobs taken unknowingly.
import { Pool } from 'pg'
import type { PoolClient } from 'pg'
import { createQueueStream, isUnavailable } from '#database'
import type { Logger } from '#log'
import { untilAvailable } from '#retry'
import { asksForJob, giveBackOnce, ignoreListening, throwWithCode } from './graphile-inside.ts'
import type { JobRow, Release } from './graphile-inside.ts'

/** Retrying is off while graphile-worker migrates in transactions of its own. */
export interface QueuePool {
  readonly pool: Pool
  beginRetrying(): void
}

// Taking or completing a job takes a millisecond.
const statementSeconds = 2

interface ConnectOnce {
  (): Promise<PoolClient>
  (
    callback: (
      error: Error | undefined,
      client: PoolClient | undefined,
      // Absent when the pool has ended.
      release: Release | undefined,
    ) => void,
  ): void
}

type Query = (...parameters: unknown[]) => Promise<unknown>

/** Null: no job. */
export type TakeJob = () => Promise<JobRow | null>

export interface QueuePoolOptions {
  /** Replaces graphile-worker's statement that hands out a job; when it fails, graphile-worker's is sent after all. */
  readonly takeJob?: TakeJob
  /** True: no job is handed out. */
  readonly isClosed?: () => boolean
  /** False: whoever has this pool hears of jobs in another way. */
  readonly listens?: boolean
}

export function createQueuePool(
  url: string,
  connections: number,
  log: Logger,
  { takeJob, isClosed, listens = true }: QueuePoolOptions = {},
): QueuePool {
  let retrying = false
  const pool = createPool(url, connections, log)
  const connectOnce = pool.connect.bind(pool) as ConnectOnce

  async function connectWithCode(): Promise<PoolClient> {
    return connectOnce().catch(throwWithCode)
  }

  async function queryElsewhere(parameters: readonly unknown[]): Promise<unknown> {
    return untilAvailable(async () => {
      const client = await connectWithCode()
      try {
        return await (client.query as Query)(...parameters).catch(throwWithCode)
      } finally {
        // It may be broken, or still busy with a statement that was given up.
        client.release(true)
      }
    }, log)
  }

  async function connect(): Promise<PoolClient> {
    if (!retrying) return connectOnce()
    const client = await connectWithCode().catch(async (error: unknown) => {
      if (!isUnavailable(error)) throw error
      return untilAvailable(connectWithCode, log)
    })
    makePatient(client, { takeJob, isClosed, queryElsewhere, log })
    return client
  }

  // graphile-worker passes a callback for its listening connection, which it renews itself.
  pool.connect = ((callback?: Parameters<ConnectOnce>[0]) => {
    if (callback === undefined) return connect()
    return connectOnce((error, client, release) => {
      if (!listens && client !== undefined) ignoreListening(client)
      callback(error, client, giveBackOnce(release))
    })
  }) as Pool['connect']

  return {
    pool,
    beginRetrying() {
      retrying = true
    },
  }
}

function createPool(url: string, connections: number, log: Logger): Pool {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    application_name: 'runledger queue',
    // A server crash may forget who has a job or that it is done: then a start is refused by the log, or a delivery
    // repeated.
    options: '-c synchronous_commit=off',
    keepAlive: true,
    stream: createQueueStream(url, statementSeconds),
    connectionTimeoutMillis: 5000,
    statement_timeout: statementSeconds * 1000,
  })
  // Without listeners a broken idle connection ends the process.
  pool.on('error', (error) => log.warn({ err: error }, 'queue.connection_lost'))
  pool.on('connect', (client) => {
    client.on('error', () => {})
  })
  return pool
}

interface Patience {
  readonly takeJob: TakeJob | undefined
  readonly isClosed: (() => boolean) | undefined
  readonly queryElsewhere: (parameters: readonly unknown[]) => Promise<unknown>
  readonly log: Logger
}

/** Until release, takes jobs by `takeJob` and repeats elsewhere what fails by a lost connection. */
function makePatient(
  client: PoolClient,
  { takeJob, isClosed, queryElsewhere, log }: Patience,
): void {
  // Restored at release, or each checkout would wrap the last one's wrapper.
  const { query: ownQuery, release: ownRelease } = client
  const query = ownQuery.bind(client) as Query
  const release = ownRelease.bind(client)
  let isGone = false
  client.query = (async (...parameters: unknown[]) => {
    if (isClosed?.() === true && asksForJob(parameters[0])) return { rows: [] }
    if (takeJob !== undefined && asksForJob(parameters[0])) {
      try {
        const job = await takeJob()
        return { rows: job === null ? [] : [job] }
      } catch (error) {
        log.warn({ err: error }, 'queue.take_failed')
      }
    }
    if (isGone) return queryElsewhere(parameters)
    try {
      return await query(...parameters).catch(throwWithCode)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      // Given back first: if all failing callers kept their places and asked for others, they would wait for ever.
      isGone = true
      release(true)
      log.warn({ err: error }, 'queue.connection_lost')
      return queryElsewhere(parameters)
    }
  }) as PoolClient['query']
  client.release = (error) => {
    if (isGone) return
    client.query = ownQuery
    client.release = ownRelease
    release(error)
  }
}
