// Withdrawing a statement whose caller has been told that it did not work out: after an outage nobody needs the thousands
// that were asked for during it.
import type postgres from 'postgres'

/** What this file needs to know of the driver's queries, which is not in its types. */
interface Unsent {
  /** Null until it was sent. */
  readonly state: unknown
  cancelled: unknown
  strings: readonly string[]
  args: readonly unknown[]
}

/**
 * Takes the query back when the signal fires, if it was not sent yet; then it fails with 57014. One that was sent is left
 * to the server, which gives up by itself (see the end of sql/functions/submission/receive-submission.sql): the driver's way of
 * cancelling opens a connection, and when that fails the process dies of an error that nobody can catch (postgres 3.4.9,
 * CONNECT_TIMEOUT).
 */
export function cancelOnAbort<T extends readonly postgres.MaybeRow[]>(
  query: postgres.PendingQuery<T>,
  signal: AbortSignal,
): postgres.PendingQuery<T> {
  const unsent = query as unknown as Unsent
  if (unsent.state === undefined) throw new Error('this driver does not say if a query was sent')
  const cancelUnsent = (): void => {
    if (unsent.state !== null) return
    query.cancel()
    // The one for which a connection is being made is skipped when it is there, and the connection is never used again
    // (postgres 3.4.9). So it goes on, as a query that asks nothing and whose answer nobody hears.
    Object.assign(unsent, { cancelled: null, strings: ['select 1'], args: [] })
  }
  signal.addEventListener('abort', cancelUnsent, { once: true })
  return query
}
