// Our connections to PostgreSQL. Beside DATABASE_CONNECTIONS a web process has two (LISTEN, the sweep), a worker up to
// nine (the sweep, retention, the lease's lock, graphile-worker's pools).
import type { Socket } from 'node:net'
import type driver from 'postgres'
import { backOff } from '#back-off'
import { postgres } from './driver.ts'
import { createWatchedSockets, createWatchedStream } from './socket.ts'
import { errorCode, isUnavailable } from './sql-state.ts'

export { cancelOnAbort } from './cancel.ts'
export {
  checkLogin,
  explainAbsence,
  explainRefusal,
  findMissingRight,
  isUnmigrated,
} from './login.ts'
export { createBatch } from './batch.ts'
export type { Batch } from './batch.ts'
export { errorCode, hadNoEffect, isUnavailable, sqlState, tookTooLong } from './sql-state.ts'
export { untilAbsent } from './absence.ts'
export { cachedRead } from './cached-read.ts'

/** bigint columns arrive as numbers: all of ours stay below 2^53. */
export type Database = driver.Sql<{ bigint: number }>

export type Queryable = driver.ISql<{ bigint: number }>

export interface DatabaseOptions {
  readonly url: string
  /** At most. */
  readonly connections: number
  readonly name: string
  /** The server cancels longer statements; 0: never. */
  readonly statementSeconds?: number
  /** Asks nothing each second, to find dead connections before somebody needs one. */
  readonly heartbeat?: boolean
  /** The session holds a lock: the connection ends for its own silence only. */
  readonly holdsSession?: boolean
  readonly onClose?: () => void
}

const defaultStatementSeconds = 10
// The server's work around a statement.
const silenceMarginSeconds = 0.4
const heartbeatMilliseconds = 1000

/** Creates a pool; it connects when first needed. */
export function createDatabase(options: DatabaseOptions): Database {
  const { statementSeconds = defaultStatementSeconds, holdsSession = false } = options
  const silenceSeconds = statementSeconds + silenceMarginSeconds
  // Without a statement limit, silence proves nothing.
  const watched: object =
    statementSeconds > 0
      ? { socket: createWatchedSockets({ silenceSeconds, holdsSession }, options.connections) }
      : {} // not in the driver's types
  const sql = postgres(options.url, {
    ...watched,
    max: options.connections,
    connect_timeout: 5,
    idle_timeout: 0,
    // The driver backs off up to 20 s, too long once the database is back.
    backoff: (retries) => backOff(retries, { first: 0.1, longest: 0.5 }),
    onnotice: () => {},
    onclose: () => options.onClose?.(),
    types: {
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
    },
    connection: {
      application_name: options.name,
      // What is acknowledged is on disk, whatever the database's or the role's setting.
      synchronous_commit: 'on',
      default_transaction_isolation: 'read committed',
      statement_timeout: statementSeconds * 1000,
      lock_timeout: 5000,
      idle_in_transaction_session_timeout: 10_000,
    },
  })
  if (options.heartbeat === true) startHeartbeat(sql)
  return sql
}

function startHeartbeat(sql: Database): void {
  let isAnswered = true
  const timer = setInterval(() => {
    if (!isAnswered) return
    isAnswered = false
    sql`select 1`
      .catch((error: unknown) => {
        if (errorCode(error) === 'CONNECTION_ENDED') clearInterval(timer)
      })
      .finally(() => {
        isAnswered = true
      })
  }, heartbeatMilliseconds).unref()
}

/** The `stream` option for graphile-worker's pool, watched like our own connections. */
export function createQueueStream(url: string, statementSeconds: number): () => Socket {
  return createWatchedStream(url, { silenceSeconds: statementSeconds + silenceMarginSeconds })
}

/**
 * Survives a connection lost while postgres.js 3.4.9 reads the server's array types: nobody handles that promise. Other
 * unhandled rejections still end the process.
 */
export function surviveLostConnections(onLost: (error: unknown) => void): void {
  process.on('unhandledRejection', (error) => {
    if (!isUnavailable(error)) throw error
    onLost(error)
  })
}

/** The driver's JSON type rejects interfaces with optional or readonly fields. */
export function json(sql: Queryable, value: object): driver.Parameter {
  return sql.json(value as driver.JSONValue)
}
