// Why a submission was not received. The 503 of a full queue has a Retry-After that follows from how fast the queue empties,
// asked once a second.
import { cachedRead } from '#database'
import type { Database } from '#database'
import type { Refusal } from '#enqueue'
import { Problem } from '#error'
import { withDeadline } from './deadline.ts'
import type { HttpContext } from './http.ts'
import { notValid, unavailable } from './problem.ts'

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
