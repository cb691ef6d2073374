// What every way to submit does with parsed submissions: it stores them, finds the earlier request of their idempotency key, or
// refuses them. The Retry-After of a full queue follows from how fast the queue empties, which is read once a second.
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
import type { Problem } from '#error'
import { createId } from '#id'
import type { HttpContext } from './http.ts'
import { notValid, retryAfter, unavailable, withDeadline } from './problem.ts'
import type { ApiRequest } from './request.ts'

export interface ParsedSubmission {
  readonly request: ApiRequest
  readonly submission: Submission
  readonly idempotencyKey: string | null
}

/** How one submission was received: stored now, or earlier under the same idempotency key. */
export type Stored = { readonly kind: 'received'; readonly id: string } | Replay

type Waiting = Pick<SubmissionContext, 'waiter' | 'durable'>

/** For a caller that does not wait for the result. */
const unwaited: Waiting = { waiter: null, durable: true }

/** Receives one submission, by default under a new id. @throws {Problem} when the submission is refused. */
export async function receive(
  context: HttpContext,
  { request, submission, idempotencyKey }: ParsedSubmission,
  waiting = unwaited,
  id = createId(),
): Promise<Stored> {
  const batch = { items: [{ id, submission }], idempotencyKey, webhook: null }
  const received = await receiveItems(context, request, batch, waiting)
  return received.kind === 'received' ? { kind: 'received', id } : received
}

export interface ReceivedBatch {
  readonly items: readonly BatchItem[]
  readonly idempotencyKey: string | null
  /** Where one webhook goes when all items have ended. */
  readonly webhook: BatchWebhook | null
}

/** Receives all valid items of a batch, or none. @throws {Problem} when the items are refused. */
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
  const positions = items.filter(({ submission }) => submission !== null).length
  throw await describeRefusal(context, outcome, positions)
}

const keptMilliseconds = 1000
const longestRetrySeconds = 60
// Submissions end at random, in groups as large as the slots. A caller that comes back after the mean time between two ends
// finds no room in one case of three; after three times as long, in one of twenty.
const endsAwaited = 3

/** Turns a refusal into a problem. @param positions how many the request needs in the queue. */
export async function describeRefusal(
  { readDrain }: HttpContext,
  { kind }: Refusal,
  positions = 1,
): Promise<Problem> {
  switch (kind) {
    case 'queue_full': {
      const seconds = retryAfterSeconds(await readDrain(), positions)
      return retryAfter('queue_full', 'The queue is full. Try again shortly.', seconds)
    }
    case 'key_refused':
      return notValid()
    case 'blob_missing':
      // The caller learns which blob is missing when it repeats the request.
      return unavailable()
  }
}

/** Returns a read of how many submissions a second ended lately; the database is asked at most once a second. */
export function createDrainEstimate(database: Database): () => Promise<number> {
  const read = async (): Promise<number> => {
    const [row] = await database<[{ per_second: number }]>`
      select runledger.estimate_drain() as per_second`
    return row.per_second
  }
  return cachedRead(() => withDeadline(read), keptMilliseconds)
}

/**
 * Returns the time, 1 to 60 seconds, until enough positions are very likely free.
 * @param perSecond submissions a second that ended lately; 0: none.
 * @param positions how many the caller needs; each after the first needs one more submission to end.
 */
export function retryAfterSeconds(perSecond: number, positions = 1): number {
  const ends = endsAwaited + positions - 1
  return Math.min(longestRetrySeconds, Math.max(1, Math.ceil(ends / perSecond)))
}
