// Withdrawing a statement whose caller has been told that it did not work out.
import type postgres from 'postgres'

/**
 * Takes the query back when the signal fires, if it was not sent yet. One that was sent is left to the server, which
 * gives up by itself (see the end of sql/functions/receive-submission.sql): the driver's way of cancelling opens a
 * connection, and when that fails the process dies of an error that nobody can catch (postgres 3.4.9, CONNECT_TIMEOUT).
 */
export function cancelOnAbort<T extends readonly postgres.MaybeRow[]>(
  query: postgres.PendingQuery<T>,
  signal: AbortSignal,
): postgres.PendingQuery<T> {
  const { state: backend } = query as { state?: unknown }
  if (backend === undefined) throw new Error('this driver does not say whether a query was sent')
  const cancelUnsent = (): void => {
    if ((query as { state?: unknown }).state === null) query.cancel()
  }
  signal.addEventListener('abort', cancelUnsent, { once: true })
  return query
}
