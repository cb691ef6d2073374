// Reads the log; functions of sql/functions write it.
import * as v from 'valibot'
import type { Database } from '#database'
import { upcast } from './upcast.ts'

/** In the latest shape that this release knows. */
export interface RecordedEvent {
  readonly position: number
  readonly version: number
  readonly type: string
  /** Of the shape of `data`. */
  readonly schemaVersion: number
  /** False: a newer release wrote it; passed through as recorded. */
  readonly isKnown: boolean
  readonly at: Date
  /** Hexadecimal. */
  readonly hash: string
  readonly data: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, unknown>>
}

interface EventRow {
  readonly position: number
  readonly stream_version: number
  readonly type: string
  readonly schema_version: number
  readonly recorded_at: Date
  readonly hash: string
  readonly data: unknown
  readonly metadata: unknown
}

// Not written by us; the rest must stay readable.
const looseObject = v.fallback(v.looseObject({}), {})

/**
 * One stream, oldest first.
 * @param source auditors may read only the view.
 */
export async function readStream(
  sql: Database,
  streamId: string,
  source: 'runledger.event' | 'audit.event' = 'runledger.event',
): Promise<RecordedEvent[]> {
  const rows = await sql<EventRow[]>`
    select position, stream_version, type, schema_version, recorded_at, data, metadata,
      ${source === 'audit.event' ? sql`hash` : sql`encode(hash, 'hex') as hash`}
    from ${sql(source)}
    where stream_id = ${streamId}
    order by stream_version`
  return rows.map((row) => ({
    position: row.position,
    version: row.stream_version,
    type: row.type,
    at: row.recorded_at,
    hash: row.hash,
    metadata: v.parse(looseObject, row.metadata),
    ...upcast(row.type, row.schema_version, v.parse(looseObject, row.data)),
  }))
}
