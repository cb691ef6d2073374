// The 503 of a full queue. Retry-After follows from how fast the queue empties, asked once a second.
import type { Database } from '#database'
import { Problem } from '#error'
import { withDeadline } from './deadline.ts'

const keptMilliseconds = 1000
const longestRetrySeconds = 60
// Submissions end at random, in groups as large as the slots. After the mean time between two ends every third caller
// would come in vain; after three times as long, one in twenty.
const endsAwaited = 3

interface Estimate {
  readonly at: number
  readonly rate: Promise<number>
}

/** By account; of all accounts under ''. */
const estimates = new WeakMap<Database, Map<string, Estimate>>()

/** `accountId`: whose share of the queue is full; null: the queue is. */
export interface Refused {
  readonly places?: number
  readonly accountId: string | null
}

/** Its Retry-After: 1 to 60 seconds, until enough places are very likely free. */
export async function queueFull(
  database: Database,
  { places = 1, accountId }: Refused,
): Promise<Problem> {
  const perSecond = await estimateDrain(database, accountId)
  const message =
    accountId === null
      ? 'The queue is full. Try again shortly.'
      : 'Your account holds its share of the queue. Try again when some of it has ended.'
  return new Problem('queue_full', message, {
    headers: { 'Retry-After': String(retryAfterSeconds(perSecond, places)) },
  })
}

function estimateDrain(database: Database, accountId: string | null): Promise<number> {
  const now = performance.now()
  const kept = estimates.get(database) ?? new Map<string, Estimate>()
  estimates.set(database, kept)
  for (const [key, { at }] of kept) if (now - at > keptMilliseconds) kept.delete(key)
  const known = kept.get(accountId ?? '')
  if (known !== undefined) return known.rate
  const rate = withDeadline(async () => {
    const [row] = await database<[{ per_second: number }]>`
      select runledger.estimate_drain(${accountId}) as per_second`
    return row.per_second
  })
  kept.set(accountId ?? '', { at: now, rate })
  return rate
}

/**
 * @param perSecond submissions that ended lately; 0: nothing moves.
 * @param places each beyond the first is one more end.
 */
export function retryAfterSeconds(perSecond: number, places = 1): number {
  const ends = endsAwaited + places - 1
  return Math.min(longestRetrySeconds, Math.max(1, Math.ceil(ends / perSecond)))
}
