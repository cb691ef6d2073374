// The 503 of a full queue. Its Retry-After is computed from how fast the queue empties, not guessed; the figure is kept
// for a second, because a full queue is when many ask.
import type { Database } from '#database'
import { Problem } from '#error'
import { withDeadline } from './deadline.ts'

const keptMilliseconds = 1000
const longestRetrySeconds = 60
// Ends come at random, and in groups of as many as there are slots: of waits as long as the mean of the time between two,
// every third would be in vain; of waits three times as long, one in twenty.
const endsAwaited = 3

const estimates = new WeakMap<Database, { readonly at: number; readonly rate: Promise<number> }>()

/**
 * The problem to throw. Its Retry-After: whole seconds until so many places are very likely free, between 1 and 60.
 * @param places that the request needs.
 */
export async function queueFull(database: Database, places = 1): Promise<Problem> {
  let estimate = estimates.get(database)
  if (estimate === undefined || performance.now() - estimate.at > keptMilliseconds) {
    const rate = withDeadline(async () => {
      const [row] = await database<[{ per_second: number }]>`
        select runledger.estimate_drain() as per_second`
      return row.per_second
    })
    estimate = { at: performance.now(), rate }
    estimates.set(database, estimate)
  }
  return new Problem('queue_full', 'The queue is full. Try again shortly.', {
    headers: { 'Retry-After': String(retryAfterSeconds(await estimate.rate, places)) },
  })
}

/**
 * @param perSecond submissions that ended per second of late; 0 says nothing moves.
 * @param places that are needed: each beyond the first is one more end.
 */
export function retryAfterSeconds(perSecond: number, places = 1): number {
  const ends = endsAwaited + places - 1
  return Math.min(longestRetrySeconds, Math.max(1, Math.ceil(ends / perSecond)))
}
