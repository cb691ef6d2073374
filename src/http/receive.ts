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

export interface ParsedSubmission {
  readonly request: ApiRequest
  readonly submission: Submission
  readonly idempotencyKey: string | null
}

/** @throws {Problem} when neither. */
export async function receive(
  context: HttpContext,
  { request, submission, idempotencyKey }: ParsedSubmission,
  id: string,
  waiting: Waiting,
): Promise<Stored> {
  const intake = describeIntake(context, request, idempotencyKey, waiting)
  const outcome = await withDeadline((signal) =>
    receiveSubmission(context.receive, id, submission, intake, signal),
  )
  if (outcome.kind === 'received' || outcome.kind === 'replayed') return outcome
  throw await describeRefusal(context, outcome)
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
  context: HttpContext,
  request: ApiRequest,
  { items, idempotencyKey, webhook }: ReceivedBatch,
  waiter: string | null,
): Promise<Received> {
  const intake = describeIntake(context, request, idempotencyKey, { waiter, durable: true })
  const outcome = await withDeadline((signal) =>
    receiveBatch(context.receive, items, intake, signal, webhook),
  )
  if (outcome.kind === 'received' || outcome.kind === 'replayed') return outcome
  const places = items.filter(({ submission }) => submission !== null).length
  throw await describeRefusal(context, outcome, places)
}

type Waiting = Pick<SubmissionContext, 'waiter' | 'durable'>

function describeIntake(
  { queueCapacity: capacity }: HttpContext,
  { caller: { apiKeyId, accountId }, requestId }: ApiRequest,
  idempotencyKey: string | null,
  waiting: Waiting,
): SubmissionContext {
  return { apiKeyId, accountId, requestId, idempotencyKey, capacity, ...waiting }
}
