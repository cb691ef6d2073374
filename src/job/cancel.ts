// Cancels a submission for its caller. A running submission is ended by its worker, moments later.
import { cancelOnAbort, json } from '#database'
import type { Database } from '#database'
import type { Metadata } from '#event'
import { reachFailpoint } from './failpoint.ts'
import { notifyWaiters, notifyWorkers } from './notify.ts'

/**
 * `cancelled`: the submission has ended by this call; `requested`: the submission runs, and its worker is notified; `ended`:
 * the submission had ended before.
 */
type CancelState = 'cancelled' | 'requested' | 'ended'

/**
 * Cancels a submission of the account. Safe to repeat. When it resolves, the cancellation is on disk.
 * @param signal withdraws an unsent statement.
 * @returns null when the account has no such submission.
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
