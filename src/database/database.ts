// Our connections to PostgreSQL. Besides DATABASE_CONNECTIONS a web process has two connections (LISTEN, the sweep), and a
// worker up to ten (the sweep, retention, large results, the lease's lock, graphile-worker's pools).
//
// A patch that is applied at installation mends three faults of postgres.js (patches/, docs/decisions/0010).
import postgres from 'postgres'
import { backOff } from '#back-off'
import { findWritable, splitHosts } from './hosts.ts'
import { createSockets } from './socket.ts'
import { isUnavailable } from './sql-state.ts'

export {
  checkLogin,
  explainAbsence,
  explainRefusal,
  findMissingRight,
  isMigrated,
  isUnmigrated,
  workerRoles,
} from './login.ts'
export { findWritable, splitHosts } from './hosts.ts'
export { cachedRead, createBatch } from './batch.ts'
export type { Batch } from './batch.ts'
export { shortenOutages, untilAvailable } from './outage.ts'
export { createWatchedStream } from './socket.ts'
export { errorCode, isUnavailable, sqlState } from './sql-state.ts'

/** bigint columns arrive as numbers, because all of ours stay below 2^53. */
export type Database = postgres.Sql<{ bigint: number }>

export type Queryable = postgres.ISql<{ bigint: number }>

export interface DatabaseOptions {
  readonly url: string
  /** The most connections. */
  readonly connections: number
  readonly name: string
  /** The server cancels longer statements; 0 sets no limit. */
  readonly statementSeconds?: number
  readonly onClose?: () => void
}

const defaultStatementSeconds = 10
// Connecting takes several round trips. It may take as long as a statement, within these bounds.
const leastConnectSeconds = 2
const mostConnectSeconds = 5
// The kernel probes an idle connection after this time, then every second. After ten unanswered probes it is dead.
const keepAliveSeconds = 2

/** Creates a pool; it connects when first needed. */
export function createDatabase(options: DatabaseOptions): Database {
  const { statementSeconds = defaultStatementSeconds, connections } = options
  // Without a statement limit, silence proves nothing.
  const longestSeconds = statementSeconds > 0 ? statementSeconds : Number.POSITIVE_INFINITY
  const [host, ...others] = splitHosts(options.url)
  const findHost = others.length > 0 ? () => findWritable(options.url) : null
  const sockets: object = { socket: createSockets(longestSeconds, connections, findHost) } // not in the driver's types
  // The driver (3.4.9) gets one host, because with several it forgets queries whose connection fails.
  return postgres(host, {
    ...sockets,
    ...(findHost && { target_session_attrs: 'primary' }),
    max: connections,
    connect_timeout: Math.min(mostConnectSeconds, Math.max(leastConnectSeconds, longestSeconds)),
    keep_alive: keepAliveSeconds,
    idle_timeout: 0,
    // The driver's own back-off grows to 20 s, which is too long once the database is back.
    backoff: (retries) => backOff(retries, { first: 0.1, longest: 0.5 }),
    onnotice: () => {},
    onclose: () => options.onClose?.(),
    types: {
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
    },
    connection: {
      application_name: options.name,
      // Acknowledged data must be on disk, whatever the database's or the role's setting.
      synchronous_commit: 'on',
      default_transaction_isolation: 'read committed',
      statement_timeout: statementSeconds * 1000,
      lock_timeout: 5000,
      idle_in_transaction_session_timeout: 10_000,
    },
  })
}

/**
 * Keeps the process alive when a connection is lost while postgres.js 3.4.9 reads the server's array types, because the
 * driver leaves that rejection unhandled. Other unhandled rejections still end the process.
 */
export function surviveLostConnections(onLost: (error: unknown) => void): void {
  process.on('unhandledRejection', (error) => {
    if (!isUnavailable(error)) throw error
    onLost(error)
  })
}

/** The driver's JSON type rejects interfaces with optional or readonly fields. */
export function json(sql: Queryable, value: object): postgres.Parameter {
  return sql.json(value as postgres.JSONValue)
}

/** Fields of the driver's queries that its types leave out. */
interface Unsent {
  /** Null until the query is sent. */
  readonly state: unknown
  cancelled: unknown
  strings: readonly string[]
  args: readonly unknown[]
}

/**
 * Withdraws an unsent query when one of the signals fires. The query then fails with 57014. A sent query runs on and ends by
 * itself (end of runledger.receive), because cancelling it opens a connection, and if that fails (CONNECT_TIMEOUT), postgres
 * 3.4.9 ends the process with an error that cannot be caught.
 */
export function cancelOnAbort<T extends readonly postgres.MaybeRow[]>(
  query: postgres.PendingQuery<T>,
  ...signals: readonly (AbortSignal | undefined)[]
): postgres.PendingQuery<T> {
  if (signals.every((signal) => signal === undefined)) return query
  const unsent = query as unknown as Unsent
  if (unsent.state === undefined) throw new Error('this driver does not say if a query was sent')
  const cancelUnsent = (): void => {
    if (unsent.state !== null) return
    query.cancel()
    // postgres 3.4.9 loses the connection that it opened for a cancelled query, so an empty query is sent instead.
    Object.assign(unsent, { cancelled: null, strings: ['select 1'], args: [] })
  }
  for (const signal of signals) signal?.addEventListener('abort', cancelUnsent, { once: true })
  return query
}
