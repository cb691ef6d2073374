// The door to the queue for everyone but the worker: puts a submission into the log and the queue at once.
// Apart from job.ts so that the web process never loads the executor.
import { v7 as uuidv7 } from 'uuid'
import { cancelOnAbort, errorCode, json, sqlState } from '#database'
import type { Database } from '#database'
import { passMilestone } from './milestone.ts'
import { describeIdempotency, describeRequest } from './submission.ts'
import type { Circumstances, Submission } from './submission.ts'
import { wakeWorkers } from './wake-workers.ts'

export { receiveBatch } from './batch.ts'
export type { BatchAnswer, BatchItem, BatchReceipt } from './batch.ts'
export type { Circumstances, Submission } from './submission.ts'

/** What became of a submission request. */
export type Receipt =
  | { readonly kind: 'received'; readonly id: string }
  /** The idempotency key was used before; `matches`: for the same request. */
  | { readonly kind: 'replayed'; readonly id: string; readonly matches: boolean }
  | { readonly kind: 'queue_full' }
  /** With `checksKey`: the key is not valid any more, or its requests are to be counted now. */
  | { readonly kind: 'key_refused' }

/** A new submission's id: UUID v7, so that ids sort by time. */
export function createSubmissionId(): string {
  return uuidv7()
}

/**
 * Appends `submission.received`, stores the bodies and enqueues the job in one transaction and one round trip.
 * When it resolves with `received`, the submission is on disk; but one that is awaited only when it has ended, or after
 * `flushLog`.
 * @param signal withdraws a statement that was not sent or not finished.
 */
export async function receiveSubmission(
  sql: Database,
  id: string,
  submission: Submission,
  circumstances: Circumstances,
  signal: AbortSignal,
): Promise<Receipt> {
  const { code, stdin, expectedStdout } = submission
  const { idempotencyKey, capacity, checksKey, toldTo } = circumstances
  const request = {
    ...describeRequest(id, submission, circumstances),
    ...describeIdempotency(idempotencyKey, [submission]),
    capacity,
    checks_key: checksKey,
    told_to: toldTo,
  }
  const query = sql<{ id: string; replayed: boolean; matches: boolean }[]>`
    select * from runledger.receive_submission(${json(sql, request)}, ${code}, ${stdin}, ${expectedStdout})`
  passMilestone('submit.before_commit')
  try {
    const [row] = await cancelOnAbort(query, signal)
    passMilestone('submit.after_commit')
    if (row?.replayed === true) return { kind: 'replayed', id: row.id, matches: row.matches }
    if (toldTo === null) wakeWorkers(sql, 1)
    return { kind: 'received', id }
  } catch (error) {
    if (errorCode(error) === sqlState.queueFull) return { kind: 'queue_full' }
    if (errorCode(error) === sqlState.keyRefused) return { kind: 'key_refused' }
    throw error
  }
}

/** Resolves when all that was received is on disk. */
export async function flushLog(sql: Database): Promise<void> {
  await sql`select runledger.flush_log()`
}
