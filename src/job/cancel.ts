// A caller cancels a submission. What runs is ended by its worker, moments later.
import { cancelOnAbort, json } from '#database'
import type { Database } from '#database'
import type { Metadata } from '#event'
import { reachFailpoint } from './failpoint.ts'
import { notifyWaiters, notifyWorkers } from './notify.ts'

/** `requested`: its worker is notified; `ended`: it had ended before; null: the account has none such. */
type CancelState = 'cancelled' | 'requested' | 'ended'

/**
 * Safe to repeat. Resolved, it is on disk.
 * @param signal withdraws it while it was not sent.
 */
export async function cancelSubmission(
  sql: Database,
  id: string,
  accountId: string,
  metadata: Metadata,
  signal?: AbortSignal,
): Promise<CancelState | null> {
  reachFailpoint('cancel.before_commit')
  const query = sql<{ state: CancelState; waiters: string[] | null }[]>`
    select state, waiters from runledger.cancel(array[${id}::uuid], ${accountId}, ${json(sql, metadata)})`
  const [row] = await (signal === undefined ? query : cancelOnAbort(query, signal))
  reachFailpoint('cancel.after_commit')
  if (row === undefined) return null
  if (row.state === 'requested') await notifyWorkers(sql, id)
  await notifyWaiters(sql, [{ id, waiters: row.waiters }])
  return row.state
}
