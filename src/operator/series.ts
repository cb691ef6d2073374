// Figures of the last hours, a point for each two minutes. They cost the database one bounded statement, however long the log
// is and however much happens.
import * as v from 'valibot'
import { cachedRead } from '#database'
import type { Database } from '#database'
import { count, described, seconds, time } from '#schema'

/** One point covers two minutes; the last point covers the time up to now. */
const point = v.object({
  at: time,
  seconds: described(seconds, 'The length of the step. The last step is not over.'),
  received: count,
  ended: count,
  failed: described(
    count,
    'Submissions among the ended ones that failed through the service’s own fault.',
  ),
  waiting: described(
    count,
    'Submissions that waited at the end of the step, to be admitted by the limit of their key or for a worker.',
  ),
  waited_p95: described(
    v.nullable(seconds),
    'The 95th percentile of the wait, over the submissions received in the step; null when none started or waits.',
  ),
})

/** The answer of runledger.read_series. */
export const seriesSchema = v.object({
  at: time,
  step_seconds: seconds,
  share: described(
    v.number(),
    'The part of the time that was sampled; below 1, counts are estimates.',
  ),
  points: v.array(point),
})

export type Series = v.InferOutput<typeof seriesSchema>

/** Three hours of two-minute steps. */
const seriesSteps = 90
const step = '2 minutes'
// Reading this many takes some tens of milliseconds.
const submissionsMost = 9000
const keptMilliseconds = 10_000

export async function readSeries(sql: Database, most = submissionsMost): Promise<Series> {
  const [{ series }] = await sql<[{ series: Series }]>`
    select runledger.read_series(${step}, ${seriesSteps}, ${most}) as series`
  return series
}

/** Returns a reader that all callers share. */
export function createCachedSeries(sql: Database): () => Promise<Series> {
  return cachedRead(() => readSeries(sql), keptMilliseconds)
}
