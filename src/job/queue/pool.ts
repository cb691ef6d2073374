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

  const connectWithCode = (): Promise<PoolClient> => connectOnce().catch(throwWithCode)
  const patient = createPatientClient({ takeJob, isClosed, connect: connectWithCode, log })

  // graphile-worker passes a callback for its listening connection, which it renews itself.
  pool.connect = ((callback?: Parameters<ConnectOnce>[0]) => {
    if (callback === undefined) return retrying ? Promise.resolve(patient) : connectOnce()
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
  readonly connect: () => Promise<PoolClient>
  readonly log: Logger
}

/**
 * What graphile-worker asks to run jobs, each a statement by itself: it has a connection while it is sent one, so that who
 * asks `takeJob` holds none, and is repeated on another one if it is lost.
 */
function createPatientClient({ takeJob, isClosed, connect, log }: Patience): PoolClient {
  async function query(...parameters: unknown[]): Promise<unknown> {
    if (asksForJob(parameters[0])) {
      if (isClosed?.() === true) return { rows: [] }
      try {
        const job = await takeJob?.()
        if (job !== undefined) return { rows: job === null ? [] : [job] }
      } catch (error) {
        log.warn({ err: error }, 'queue.take_failed')
      }
    }
    return untilAvailable(() => queryOnce(parameters), log)
  }

  async function queryOnce(parameters: readonly unknown[]): Promise<unknown> {
    const client = await connect()
    let isLost = false
    try {
      return await (client.query as Query)(...parameters).catch(throwWithCode)
    } catch (error) {
      isLost = isUnavailable(error)
      throw error
    } finally {
      // It may be broken, or still busy with a statement that was given up.
      client.release(isLost)
    }
  }

  return { query, release() {} } as Pick<PoolClient, 'query' | 'release'> as PoolClient
}
