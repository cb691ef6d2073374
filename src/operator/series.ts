// How the last hours went: a point for each two minutes. It costs the database one bounded statement, however long the log is,
// and however much happens.
import { cachedRead } from '#database'
import type { Database } from '#database'

/** Two minutes, and the time up to now for the last. */
export interface SeriesPoint {
  /** When it begins, ISO 8601. */
  readonly at: string
  readonly seconds: number
  readonly received: number
  readonly ended: number
  /** Of those that ended: by a failure of the service's own. */
  readonly failed: number
  /** At its end: for a place of their key, or for a worker. */
  readonly waiting: number
  /** Of those that were received in it; null where none started or waits. */
  readonly waited_p95: number | null
}

export interface Series {
  readonly at: string
  readonly step_seconds: number
  /** Of the time, so much was looked at; below 1 counts are estimates. */
  readonly share: number
  readonly points: readonly SeriesPoint[]
}

/** Three hours. */
const seriesSteps = 90
const step = '2 minutes'
// Read within some tens of milliseconds.
const submissionsMost = 9000
const keptMilliseconds = 10_000

export async function readSeries(sql: Database, most = submissionsMost): Promise<Series> {
  const [{ series }] = await sql<[{ series: Series }]>`
    select runledger.read_series(${step}, ${seriesSteps}, ${most}) as series`
  return series
}

/** Shared by all who ask. */
export function createCachedSeries(sql: Database): () => Promise<Series> {
  return cachedRead(() => readSeries(sql), keptMilliseconds)
}
