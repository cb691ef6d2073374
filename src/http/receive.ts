// What every way to submit does with what it has parsed: it is stored, or its idempotency key's earlier request is found.
import { receiveBatch, receiveSubmission } from '#enqueue'
import type {
  BatchItem,
  BatchOutcome,
  Refusal,
  Replay,
  Submission,
  SubmissionContext,
} from '#enqueue'
import { withDeadline } from './deadline.ts'
import type { HttpContext } from './http.ts'
import { describeRefusal } from './refusal.ts'
import type { ApiRequest } from './request.ts'

/** Of one submission. */
export type Stored = { readonly kind: 'received'; readonly id: string } | Replay

/** Of a batch. */
type Received = Exclude<BatchOutcome, Refusal>

/** @throws {Problem} when neither. */
export async function receive(
  { database, queueCapacity }: HttpContext,
  {
    request,
    submission,
    idempotencyKey,
  }: {
    readonly request: ApiRequest
    readonly submission: Submission
    readonly idempotencyKey: string | null
  },
  id: string,
  waiting: Pick<SubmissionContext, 'waiter' | 'durable'>,
): Promise<Stored> {
  const context = describeContext(request, idempotencyKey, queueCapacity, waiting)
  const outcome = await withDeadline((signal) =>
    receiveSubmission(database, id, submission, context, signal),
  )
  if (outcome.kind === 'received' || outcome.kind === 'replayed') return outcome
  throw await describeRefusal(database, outcome)
}

export interface ReceivedBatch {
  readonly items: readonly BatchItem[]
  readonly idempotencyKey: string | null
  /** Receives one webhook when all of it has ended. */
  readonly webhook: { readonly url: string; readonly secret: string } | null
}

/**
 * A batch: all good items or none.
 * @param waiter the channel on which each end is notified; null: nobody waits. @throws {Problem} when neither.
 */
export async function receiveItems(
  { database, queueCapacity }: HttpContext,
  request: ApiRequest,
  { items, idempotencyKey, webhook }: ReceivedBatch,
  waiter: string | null,
): Promise<Received> {
  const waiting = { waiter, durable: true }
  const context = describeContext(request, idempotencyKey, queueCapacity, waiting)
  const outcome = await withDeadline((signal) =>
    receiveBatch(database, items, context, signal, webhook),
  )
  if (outcome.kind === 'received' || outcome.kind === 'replayed') return outcome
  const places = items.filter(({ submission }) => submission !== null).length
  throw await describeRefusal(database, outcome, places)
}

function describeContext(
  { caller: { apiKeyId, accountId }, requestId }: ApiRequest,
  idempotencyKey: string | null,
  capacity: number,
  waiting: Pick<SubmissionContext, 'waiter' | 'durable'>,
): SubmissionContext {
  return { apiKeyId, accountId, requestId, idempotencyKey, capacity, ...waiting }
}
