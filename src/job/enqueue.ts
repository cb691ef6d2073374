// The entry to the queue for all processes but the worker. It is separate from #queue and #execute so that the web process
// never loads the executor.
import { cancelOnAbort, json } from '#database'
import type { Database } from '#database'
import type { Metadata } from '#event'
import { reachFailpoint } from './failpoint.ts'
import { notifyWaiters, notifyWorkers } from './notify.ts'

export { createReceive } from './receive.ts'
export type { IntakeOutcome, Receive, Refusal, Replay } from './receive.ts'
export { rerunInCampaign, rerunSubmission } from './rerun.ts'
export type { RerunOutcome } from './rerun.ts'
export type { BatchItem, BatchWebhook, Submission, SubmissionContext } from './submission.ts'

/** Resolves when everything received so far is on disk (sql/functions/receive.sql). */
export async function flushLog(sql: Database): Promise<void> {
  await sql`select runledger.flush_log()`
}

/**
 * `cancelled`: the submission has ended by this call; `requested`: the submission runs, and its worker is notified, which ends
 * it moments later; `ended`: the submission had ended before.
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
  const [row] = await cancelOnAbort(query, signal)
  reachFailpoint('cancel.after_commit')
  if (row === undefined) return null
  if (row.state === 'requested') await notifyWorkers(sql, id)
  await notifyWaiters(sql, [{ id, waiters: row.waiters }])
  return row.state
}
