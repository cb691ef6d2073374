// Withdraws statements that no caller waits for any more, such as thousands during an outage.
import type postgres from 'postgres'

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
