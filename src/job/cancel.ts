// A caller takes a submission back. What runs is ended by its worker, moments later.
import { cancelOnAbort, json } from '#database'
import type { Database } from '#database'
import type { Metadata } from '#event'
import { reachFailpoint } from './failpoint.ts'

/** `requested`: its worker is told; `ended`: it had ended before; null: the account has none such. */
export type CancelState = 'cancelled' | 'requested' | 'ended'

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
  const query = sql<[{ state: CancelState | null }]>`
    call runledger.cancel_submission(${id}, ${accountId}, ${json(sql, metadata)}, null)`
  const [row] = await (signal === undefined ? query : cancelOnAbort(query, signal))
  reachFailpoint('cancel.after_commit')
  return row.state
}
