// The pool that graphile-worker works with. It does not survive a broken connection while it marks a job complete: by
// default the process ends, with its batching the worker stops silently. So a statement that fails because the database
// is away is repeated here, on a new connection, until it is answered. That is safe: completing a job is a delete by id,
// failing one an update by id, and a job that was taken without us learning of it is found by the reconciler.
import { Pool } from 'pg'
import type { PoolClient } from 'pg'
import { createPace, createQueueStream, isUnavailable } from '#database'
import type { Logger } from '#log'
import { untilAvailable } from '#retry'
import { asksForJob, giveBackOnce, ignoreListening, throwWithCode } from './graphile-inside.ts'
import type { JobRow, Release } from './graphile-inside.ts'

/** A pool, and the switch that makes it patient: off while graphile-worker migrates in transactions of its own. */
export interface QueuePool {
  readonly pool: Pool
  beginRetrying(): void
}

// A server that is away is not asked more often than this in a second, however many jobs and pools want it.
const takeTurn = createPace(10)
// Taking or completing a job takes a millisecond; a connection that answers nothing is not waited for.
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

/** Takes the next job; null: none. */
export type TakeJob = () => Promise<JobRow | null>

export interface QueuePoolOptions {
  /**
   * Takes the place of graphile-worker's own statement that hands out a job: one row as it would return it, or null for
   * none. When it fails, graphile-worker's is sent after all.
   */
  readonly takeJob?: TakeJob
  /** While it says true there is no job, whatever waits. */
  readonly isClosed?: () => boolean
  /** False: nothing listens here, whoever has this pool is told of jobs in another way. */
  readonly listens?: boolean
}

/** @param connections at most. */
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

  async function reconnect(): Promise<PoolClient> {
    await takeTurn()
    return connectWithCode()
  }

  async function queryElsewhere(parameters: readonly unknown[]): Promise<unknown> {
    return untilAvailable(async () => {
      const client = await reconnect()
      try {
        return await (client.query as Query)(...parameters).catch(throwWithCode)
      } finally {
        // It may be broken, and a statement that was given up by its deadline may still be under way on it.
        client.release(true)
      }
    }, log)
  }

  async function connect(): Promise<PoolClient> {
    if (!retrying) return connectOnce()
    const client = await connectWithCode().catch(async (error: unknown) => {
      if (!isUnavailable(error)) throw error
      return untilAvailable(reconnect, log)
    })
    makePatient(client, { takeJob, isClosed, queryElsewhere, log })
    return client
  }

  // With a callback graphile-worker asks for the connection it listens on. That one it renews itself.
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
    // Who holds a job, and that it is done, are hints: what a crash of the server forgets of them costs a start that the
    // log refuses, or a delivery that its receiver knows already.
    options: '-c synchronous_commit=off',
    keepAlive: true,
    stream: createQueueStream(url, statementSeconds),
    connectionTimeoutMillis: 5000,
    statement_timeout: statementSeconds * 1000,
  })
  // Without listeners an idle connection that breaks ends the process.
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

/** Until it is given back: jobs are taken by `takeJob`, and what fails because the connection broke is asked elsewhere. */
function makePatient(
  client: PoolClient,
  { takeJob, isClosed, queryElsewhere, log }: Patience,
): void {
  // Put back as they were: each checkout would otherwise wrap what the last one left.
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
      // First given back: were each who fails to keep its place and ask for another, all would wait for ever.
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
