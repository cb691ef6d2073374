// The entry to the queue for all processes but the worker: receives submissions, receives one again, and cancels one. It is
// separate from #queue and #execute so that the web process never loads the executor.
import { hash } from 'node:crypto'
import { cancelOnAbort, json } from '#database'
import type { Database } from '#database'
import type { Metadata } from '#event'
import { reachFailpoint } from './failpoint.ts'
import { notifyWaiters, notifyWorkers } from './notify.ts'
import type { Refusal, Replay } from './receive.ts'
import { spellDigest } from './submission.ts'
import type { SubmissionContext } from './submission.ts'

export { createReceive } from './receive.ts'
export type { IntakeOutcome, Receive, Refusal, Replay } from './receive.ts'
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
  await notifyWaiters(sql, id, row.waiters)
  return row.state
}

export type RerunOutcome =
  | { readonly kind: 'received'; readonly id: string }
  | Replay
  | Refusal
  | { readonly kind: 'not_final' | 'purged' | 'not_found' }

/**
 * Receives a submission of the key's account again, as it was first received. Its bodies never leave the database. When it
 * resolves with `received`, the new submission is on disk.
 * @param id the new submission's.
 * @param signal withdraws an unsent statement.
 */
export async function rerunSubmission(
  sql: Database,
  original: string,
  id: string,
  context: Pick<SubmissionContext, 'apiKeyId' | 'requestId' | 'idempotencyKey' | 'capacity'>,
  signal: AbortSignal,
): Promise<RerunOutcome> {
  const { apiKeyId, requestId, idempotencyKey, capacity } = context
  const metadata: Metadata = { request: requestId, actor: { api_key: apiKeyId } }
  const digest = hash('sha256', `rerun:${original.toLowerCase()}`, 'buffer')
  const request = {
    submission_id: id,
    api_key_id: apiKeyId,
    metadata,
    capacity,
    ...(idempotencyKey !== null && {
      idempotency_key: idempotencyKey,
      request_digest: spellDigest(digest),
    }),
  }
  const query = sql<RerunOutcome[]>`
    select outcome as kind, id, matches from runledger.rerun_submission(${original}, ${json(sql, request)})`
  const [outcome = { kind: 'not_found' }] = await cancelOnAbort(query, signal)
  return outcome
}

/**
 * `done`: the campaign has repeated the submission before; `busy`: the campaign has `atOnce` submissions under way; `gone`:
 * the account has no such submission.
 */
type CampaignOutcome =
  Exclude<RerunOutcome['kind'], 'replayed' | 'not_found'> | 'done' | 'busy' | 'gone'

/**
 * Repeats one submission of an operator's campaign, unless the campaign has repeated it before.
 * @param rerun.id the new submission's.
 * @param rerun.apiKeyId the operators' key of the submission's account.
 * @param rerun.capacity the most unfinished submissions over all keys, including this one.
 */
export async function rerunInCampaign(
  sql: Database,
  original: string,
  campaign: { readonly name: string; readonly atOnce: number },
  rerun: { readonly id: string; readonly apiKeyId: string; readonly capacity: number },
  metadata: Metadata,
): Promise<CampaignOutcome> {
  const { id, apiKeyId, capacity } = rerun
  const data = { campaign: campaign.name, priority: 'low' }
  const request = { submission_id: id, api_key_id: apiKeyId, metadata, capacity, data }
  const [row] = await sql<{ outcome: CampaignOutcome }[]>`
    select outcome from runledger.rerun_submission(${original}, ${json(sql, request)}, ${campaign.atOnce})`
  return row?.outcome ?? 'gone'
}
