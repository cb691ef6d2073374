// The pool that graphile-worker works with. It does not survive a broken connection while it marks a job complete: by
// default the process ends, with its batching the worker stops silently. So a statement that fails because the database
// is away is repeated here, on a new connection, until it is answered. That is safe: completing a job is a delete by id,
// failing one an update by id, and a job that was taken without us learning of it is found by the reconciler.
import { Pool } from 'pg'
import type { PoolClient } from 'pg'
import type { Logger } from '#log'
import { untilAvailable } from './retry.ts'

/** A pool, and the switch that makes it patient: off while graphile-worker migrates in transactions of its own. */
export interface QueuePool {
  readonly pool: Pool
  beginRetrying(): void
}

type Query = (...parameters: unknown[]) => Promise<unknown>

/** @param connections at most. */
export function createQueuePool(url: string, connections: number, log: Logger): QueuePool {
  let retrying = false
  const pool = new Pool({
    connectionString: url,
    max: connections,
    application_name: 'runledger queue',
    keepAlive: true,
    connectionTimeoutMillis: 5000,
    statement_timeout: 10_000,
    // Completing a job takes a millisecond; a connection that answers nothing is not waited for.
    query_timeout: 12_000,
  })
  // Without listeners an idle connection that breaks ends the process.
  pool.on('error', (error) => log.warn({ err: error }, 'queue.connection_lost'))
  pool.on('connect', (client) => {
    client.on('error', () => {})
  })

  const connectOnce = pool.connect.bind(pool) as {
    (): Promise<PoolClient>
    (callback: NonNullable<Parameters<Pool['connect']>[0]>): void
  }
  const connect = async (): Promise<PoolClient> => {
    if (!retrying) return connectOnce()
    const client = await untilAvailable(() => connectOnce().catch(throwWithCode), log)
    const query = client.query.bind(client) as Query
    const release = client.release.bind(client)
    let isBroken = false
    client.query = ((...parameters: unknown[]) =>
      query(...parameters).catch((error: unknown) => {
        isBroken = true
        return repeatElsewhere(parameters, error)
      })) as PoolClient['query']
    client.release = (error) => {
      client.query = query as PoolClient['query']
      client.release = release
      // A statement that was given up by its deadline may still be under way on this connection.
      release(error ?? isBroken)
    }
    return client
  }
  // With a callback graphile-worker asks for the connection it listens on: that one it renews itself.
  pool.connect = ((callback?: Parameters<Pool['connect']>[0]) =>
    callback === undefined ? connect() : connectOnce(callback)) as Pool['connect']

  async function repeatElsewhere(parameters: readonly unknown[], first: unknown): Promise<unknown> {
    let failed: unknown = first
    return untilAvailable(async () => {
      if (failed !== null) {
        const error = failed
        failed = null
        return throwWithCode(error)
      }
      const client = await connectOnce().catch(throwWithCode)
      try {
        return await (client.query as Query)(...parameters).catch(throwWithCode)
      } finally {
        client.release(true)
      }
    }, log)
  }

  return {
    pool,
    beginRetrying() {
      retrying = true
    },
  }
}

// pg 8.23's own words for a connection that was lost, refused or silent; these errors carry no code.
const connectionLost =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed))/

function throwWithCode(error: unknown): never {
  if (error instanceof Error && !('code' in error) && connectionLost.test(error.message)) {
    throw Object.assign(error, { code: 'ECONNRESET' })
  }
  throw error
}
