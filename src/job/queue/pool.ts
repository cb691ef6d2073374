// graphile-worker's pool. When a connection breaks while graphile-worker marks a job complete, it ends its process or
// silently stops. So this pool repeats a lost statement on another connection. That is safe, because jobs are completed and
// failed by id, and the reconciler finds jobs that a lost answer handed out.
import { callbackify } from 'node:util'
import { Client, Pool } from 'pg'
import type { PoolClient } from 'pg'
import {
  createWatchedStream,
  findWritable,
  isUnavailable,
  splitHosts,
  untilAvailable,
} from '#database'
import type { Logger } from '#log'

/** Taking or completing jobs takes milliseconds. */
const statementSeconds = 2

// synchronous_commit: a server crash may forget which worker has a job, or that the job is done. Then the log refuses a
// start, or a delivery is repeated. plan_cache_mode: to plan a take costs twice what it takes to run it. enable_*: a plan that
// was made while the queue was empty would sort it. jit: the disabled plan types make a plan look expensive, so PostgreSQL would
// compile it, which costs a second of CPU where it is built with LLVM, as in Debian and the official image.
const settings =
  '-c synchronous_commit=off -c plan_cache_mode=force_generic_plan ' +
  '-c enable_seqscan=off -c enable_bitmapscan=off -c enable_sort=off -c jit=off'

export interface QueuePool {
  readonly pool: Pool
  beginRetrying(): void
}

/**
 * Creates the pool. Call `beginRetrying` once graphile-worker has migrated, which it does in transactions, and before it asks
 * for anything else: it keeps a failed look-up of its tasks for ever, and then takes no job.
 * New jobs do not wake graphile-worker by themselves, because it gets no connection to listen on: a notification wakes every
 * connection that listens. The caller nudges its runner.
 */
export function createQueuePool(
  url: string,
  connections: number,
  log: Logger,
  onLost = (): void => {},
): QueuePool {
  const [host, ...others] = splitHosts(url)
  const pool = new Pool({
    connectionString: host,
    ...(others.length > 0 && { Client: createClientOfWritable(url) }),
    max: connections,
    application_name: 'runledger queue',
    options: settings,
    keepAlive: true,
    stream: createWatchedStream(statementSeconds),
    connectionTimeoutMillis: 2000,
    statement_timeout: statementSeconds * 1000,
  })
  // Without a listener a broken idle connection ends the process.
  pool.on('error', (error) => log.warn({ err: giveCode(error) }, 'queue.connection_lost'))
  pool.on('connect', (client) => client.on('error', () => {}))
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>
  let retries = false

  async function queryOnce(parameters: readonly unknown[]): Promise<unknown> {
    const client = await connect().catch(throwWithCode)
    let isLost = false
    try {
      return await (client.query as (...all: unknown[]) => Promise<unknown>)(...parameters).catch(
        throwWithCode,
      )
    } catch (error) {
      isLost = isUnavailable(error)
      if (isLost) onLost()
      throw error
    } finally {
      // The connection may be broken, or still busy with a statement that timed out.
      client.release(isLost)
    }
  }
  const query = (...parameters: unknown[]): unknown =>
    untilAvailable(() => queryOnce(parameters), log)
  pool.query = query as typeof pool.query
  pool.connect = ((listener?: unknown) => {
    if (listener !== undefined) return undefined
    return retries ? Promise.resolve({ query, release() {} }) : connect()
  }) as Pool['connect']
  return { pool, beginRetrying: () => void (retries = true) }
}

/** Returns a pg client that connects to the host that takes writes at that time, because pg knows one host only. */
function createClientOfWritable(url: string): typeof Client {
  return class extends Client {
    override connect(callback?: unknown): Promise<Client> {
      const connected = this.#connect()
      // pg's pool calls it with a callback, which looks at the error only.
      if (typeof callback === 'function')
        callbackify(() => connected)(callback as (error: Error | null) => void)
      return connected
    }

    async #connect(): Promise<Client> {
      const { host, port } = await findWritable(url)
      // If the client's time is over, pg would wait for a stream that has ended.
      if (this.connection.stream.destroyed) throw new Error('Connection terminated')
      Object.assign(this, { host, port })
      await super.connect()
      return this
    }
  }
}

export function throwWithCode(error: unknown): never {
  throw giveCode(error)
}

/** Gives a code to pg's errors of lost, refused and silent connections, which have none. @returns the error itself. */
export function giveCode(error: unknown): unknown {
  const lost =
    /^(Connection terminated|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed))/
  if (error instanceof Error && !('code' in error) && lost.test(error.message))
    return Object.assign(error, { code: 'ECONNRESET' })
  return error
}
