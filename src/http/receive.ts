// What every way to submit does with what it has parsed: it is stored, or its idempotency key's earlier request is found, or it
// is refused. The 503 of a full queue has a Retry-After that follows from how fast the queue empties, asked once a second.
import { cachedRead } from '#database'
import type { Database } from '#database'
import type {
  BatchWebhook,
  IntakeOutcome,
  BatchItem,
  Refusal,
  Replay,
  Submission,
  SubmissionContext,
} from '#enqueue'
import { Problem } from '#error'
import { withDeadline } from './deadline.ts'
import type { HttpContext } from './http.ts'
import { notValid, unavailable } from './problem.ts'
import type { ApiRequest } from './request.ts'

export interface ParsedSubmission {
  readonly request: ApiRequest
  readonly submission: Submission
  readonly idempotencyKey: string | null
}

/** Of one submission. */
export type Stored = { readonly kind: 'received'; readonly id: string } | Replay

type Waiting = Pick<SubmissionContext, 'waiter' | 'durable'>

/** For all who do not wait for the end. */
const unwaited: Waiting = { waiter: null, durable: true }

/** Receives one submission. @throws {Problem} when it is refused. */
export async function receive(
  context: HttpContext,
  { request, submission, idempotencyKey }: ParsedSubmission,
  id: string,
  waiting = unwaited,
): Promise<Stored> {
  const batch = { items: [{ id, submission }], idempotencyKey, webhook: null }
  const received = await receiveItems(context, request, batch, waiting)
  return received.kind === 'received' ? { kind: 'received', id } : received
}

export interface ReceivedBatch {
  readonly items: readonly BatchItem[]
  readonly idempotencyKey: string | null
  /** Receives one webhook when all of it has ended. */
  readonly webhook: BatchWebhook | null
}

/** Receives all good items or none. @throws {Problem} when they are refused. */
export async function receiveItems(
  context: HttpContext,
  { caller: { apiKeyId, accountId }, requestId }: ApiRequest,
  { items, idempotencyKey, webhook }: ReceivedBatch,
  waiting = unwaited,
): Promise<Exclude<IntakeOutcome, Refusal>> {
  const capacity = context.queueCapacity
  const intake = { apiKeyId, accountId, requestId, idempotencyKey, capacity, ...waiting }
  const outcome = await withDeadline((signal) => context.receive(items, intake, signal, webhook))
  if (outcome.kind === 'received' || outcome.kind === 'replayed') return outcome
  const places = items.filter(({ submission }) => submission !== null).length
  throw await describeRefusal(context, outcome, places)
}

const keptMilliseconds = 1000
const longestRetrySeconds = 60
// Submissions end at random, in groups as large as the slots. After the mean time between two ends every third caller
// would come in vain; after three times as long, one in twenty.
const endsAwaited = 3

/** @param places that the request needs in the queue. */
export async function describeRefusal(
  { readDrain }: Pick<HttpContext, 'readDrain'>,
  { kind }: Refusal,
  places = 1,
): Promise<Problem> {
  switch (kind) {
    case 'queue_full':
      return queueFull(await readDrain(), places)
    case 'key_refused':
      return notValid()
    case 'blob_missing':
      // Asked again, the caller learns which one.
      return unavailable()
  }
}

/** Its Retry-After: 1 to 60 seconds, until enough places are very likely free. */
function queueFull(perSecond: number, places: number): Problem {
  return new Problem('queue_full', 'The queue is full. Try again shortly.', {
    headers: { 'Retry-After': String(retryAfterSeconds(perSecond, places)) },
  })
}

/** How many submissions ended a second of late, asked once a second. */
export function createDrainEstimate(database: Database): () => Promise<number> {
  const read = async (): Promise<number> => {
    const [row] = await database<[{ per_second: number }]>`
      select runledger.estimate_drain() as per_second`
    return row.per_second
  }
  return cachedRead(() => withDeadline(read), keptMilliseconds)
}

/**
 * @param perSecond submissions that ended lately; 0: nothing moves.
 * @param places each beyond the first is one more end.
 */
export function retryAfterSeconds(perSecond: number, places = 1): number {
  const ends = endsAwaited + places - 1
  return Math.min(longestRetrySeconds, Math.max(1, Math.ceil(ends / perSecond)))
}
