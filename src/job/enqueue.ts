// The door to the queue for all but the worker. Apart from job.ts, so that the web process never loads the executor.
import { v7 as uuidv7 } from 'uuid'
import { cancelOnAbort, errorCode, json, sqlState } from '#database'
import type { Database } from '#database'
import { passMilestone } from './milestone.ts'
import { encodeDetail } from './detail.ts'
import { isOfAccount } from './queue-full.ts'
import { describeIdempotency, describeRequest } from './submission.ts'
import type { Circumstances, Submission } from './submission.ts'
import { wakeWorkers } from './wake-workers.ts'

export { receiveBatch } from './batch.ts'
export { cancelSubmission } from './cancel.ts'
export { rerunInCampaign, rerunSubmission } from './rerun.ts'
export type { CampaignOutcome, RerunReceipt } from './rerun.ts'
export type { BatchAnswer, BatchItem, BatchReceipt } from './batch.ts'
export type { Detail, DetailFile, OwnLimits, ProgramChecker, Test } from './detail.ts'
export type { Circumstances, Submission } from './submission.ts'

export type Receipt =
  | { readonly kind: 'received'; readonly id: string }
  /** `matches`: the same request came first under this idempotency key. */
  | { readonly kind: 'replayed'; readonly id: string; readonly matches: boolean }
  /** `ofAccount`: others still get in. */
  | { readonly kind: 'queue_full'; readonly ofAccount: boolean }
  /** With `checksKey`: the key is invalid, or its requests must be counted. */
  | { readonly kind: 'key_refused' }

/** UUID v7, so that ids sort by time. */
export function createSubmissionId(): string {
  return uuidv7()
}

/**
 * In one round trip. Resolved with `received` it is on disk; with `toldTo`, only after its end or `flushLog`.
 * @param signal withdraws an unsent statement.
 */
export async function receiveSubmission(
  sql: Database,
  id: string,
  submission: Submission,
  circumstances: Circumstances,
  signal: AbortSignal,
): Promise<Receipt> {
  const { code, stdin, expectedStdout } = submission
  const detail = encodeDetail(submission.detail)
  const { idempotencyKey, capacity, checksKey, toldTo } = circumstances
  const request = {
    ...describeRequest(id, submission, circumstances),
    ...describeIdempotency(idempotencyKey, [submission]),
    capacity,
    checks_key: checksKey,
    told_to: toldTo,
  }
  const query = sql<{ id: string; replayed: boolean; matches: boolean }[]>`
    select * from runledger.receive_submission(${json(sql, request)}, ${code}, ${stdin}, ${expectedStdout}, ${detail})`
  passMilestone('submit.before_commit')
  try {
    const [row] = await cancelOnAbort(query, signal)
    passMilestone('submit.after_commit')
    if (row?.replayed === true) return { kind: 'replayed', id: row.id, matches: row.matches }
    if (toldTo === null) wakeWorkers(sql, 1)
    return { kind: 'received', id }
  } catch (error) {
    if (errorCode(error) === sqlState.queueFull)
      return { kind: 'queue_full', ofAccount: isOfAccount(error) }
    if (errorCode(error) === sqlState.keyRefused) return { kind: 'key_refused' }
    throw error
  }
}

/** Resolves when all that was received is on disk. */
export async function flushLog(sql: Database): Promise<void> {
  await sql`select runledger.flush_log()`
}
