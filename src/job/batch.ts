// Receives the submissions of one request: all the good ones or none.
import { cancelOnAbort, errorCode, json, sqlState } from '#database'
import type { Database } from '#database'
import { createId } from '#id'
import { reachFailpoint } from './failpoint.ts'
import { describeBodies, describeIdempotency, describeRequest } from './submission.ts'
import type { Submission, SubmissionContext } from './submission.ts'
import { wakeWorkers } from './wake-workers.ts'

/** A good item's id, or a bad one's refusal. */
export type BatchAnswer = { readonly id: string } | object

export type BatchReception =
  | { readonly kind: 'received'; readonly answer: readonly BatchAnswer[] }
  /** The idempotency key was used before: the first answer. */
  | {
      readonly kind: 'replayed'
      readonly answer: readonly BatchAnswer[]
      readonly matches: boolean
    }
  | { readonly kind: 'queue_full' }

export type BatchItem =
  { readonly submission: Submission } | { readonly submission: null; readonly refusal: object }

/**
 * Like `receiveSubmission`. A batch without good items is not remembered.
 * @param signal withdraws an unsent statement.
 */
export async function receiveBatch(
  sql: Database,
  items: readonly BatchItem[],
  context: SubmissionContext,
  signal: AbortSignal,
): Promise<BatchReception> {
  const requests: object[] = []
  const answer = items.map((item): BatchAnswer => {
    if (item.submission === null) return item.refusal
    const id = createId()
    requests.push({
      request: describeRequest(id, item.submission, context),
      ...describeBodies(item.submission),
    })
    return { id }
  })
  if (requests.length === 0) return { kind: 'received', answer }

  const { apiKeyId, capacity, idempotencyKey } = context
  const batch = {
    api_key_id: apiKeyId,
    items: requests,
    capacity,
    ...describeIdempotency(
      idempotencyKey,
      items.map(({ submission }) => submission),
    ),
  }
  const query = sql<{ given_answer: string; replayed: boolean; matches: boolean }[]>`
    select * from runledger.receive_batch(${json(sql, batch)}, ${JSON.stringify(answer)})`
  reachFailpoint('batch.before_commit')
  try {
    const [row] = await cancelOnAbort(query, signal)
    reachFailpoint('batch.after_commit')
    if (row?.replayed !== true) {
      wakeWorkers(sql, requests.length)
      return { kind: 'received', answer }
    }
    return {
      kind: 'replayed',
      answer: JSON.parse(row.given_answer) as BatchAnswer[],
      matches: row.matches,
    }
  } catch (error) {
    if (errorCode(error) === sqlState.queueFull) return { kind: 'queue_full' }
    throw error
  }
}
