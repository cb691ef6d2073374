// Our connections to PostgreSQL. graphile-worker has pools of its own (job/queue/pool.ts); all count against the server's
// limit. Beside DATABASE_CONNECTIONS a web process has two (LISTEN, the sweep), a worker up to nine (the sweep, retention,
// the lease's lock, the queue's).
import type { Socket } from 'node:net'
import postgres from 'postgres'
import { backOff } from '#back-off'
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
export type { Role } from './login.ts'
export { createPace } from './socket.ts'
export { errorCode, isUnavailable, sqlState } from './sql-state.ts'

/** The pool, as a tagged template. bigint columns arrive as numbers: all of ours stay below 2^53. */
export type Database = postgres.Sql<{ bigint: number }>

/** What statements are asked of: a pool, or a transaction of it. */
export type Queryable = postgres.ISql<{ bigint: number }>

/** What a pool is made with. */
export interface DatabaseOptions {
  readonly url: string
  /** Connections at most. */
  readonly connections: number
  /** Shown in pg_stat_activity. */
  readonly name: string
  /** A statement that takes longer is cancelled by the server. */
  readonly statementSeconds?: number
  /** Asks nothing each second, so that connections are found dead before somebody needs one. */
  readonly heartbeat?: boolean
  /** Its session holds a lock: the connection ends for its own silence, not because another was silent. */
  readonly holdsSession?: boolean
  /** Called when a connection has closed. */
  readonly onClose?: () => void
}

const defaultStatementSeconds = 10
// Beyond a statement's own limit, for what the server does before and after it.
const silenceMarginSeconds = 0.4
const heartbeatMilliseconds = 1000

/** Creates a pool. Connections are made when first needed. */
export function createDatabase(options: DatabaseOptions): Database {
  const { statementSeconds = defaultStatementSeconds, holdsSession = false } = options
  const silenceSeconds = statementSeconds + silenceMarginSeconds
  // Where statements may take for ever, silence says nothing.
  const watched: object =
    statementSeconds > 0
      ? { socket: createWatchedSockets({ silenceSeconds, holdsSession }, options.connections) }
      : {} // not in the driver's types
  const sql = postgres(options.url, {
    ...watched,
    max: options.connections,
    connect_timeout: 5,
    idle_timeout: 0,
    // The default backs off up to 20 s; a database that is back should be used within a second.
    backoff: (retries) => backOff(retries, { first: 0.1, longest: 0.5 }),
    onnotice: () => {},
    onclose: () => options.onClose?.(),
    types: {
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
    },
    connection: {
      application_name: options.name,
      // What is acknowledged is on disk, whatever the database or the role was set to.
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

// Ends with the pool.
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

/**
 * Creates the `stream` of a pool of graphile-worker's driver, so that its connections are watched like ours.
 * @param statementSeconds the server's limit of a statement.
 */
export function createQueueStream(url: string, statementSeconds: number): () => Socket {
  return createWatchedStream(url, { silenceSeconds: statementSeconds + silenceMarginSeconds })
}

/**
 * Keeps a process alive when a connection is lost in a moment in which the driver has nobody to tell: postgres.js 3.4.9
 * reads the server's array types after connecting in a promise of its own. Any other unhandled rejection ends the process.
 */
export function surviveLostConnections(onLost: (error: unknown) => void): void {
  process.on('unhandledRejection', (error) => {
    if (!isUnavailable(error)) throw error
    onLost(error)
  })
}

/** A jsonb parameter. The driver's own type for JSON does not take interfaces with optional or readonly fields. */
export function json(sql: Queryable, value: object): postgres.Parameter {
  return sql.json(value as postgres.JSONValue)
}
