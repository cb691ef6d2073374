// Reading the log. Writing is done by the functions in sql/functions, each together with what belongs to its event.
import * as v from 'valibot'
import type { Database } from '#database'
import { upcast } from './upcast.ts'

/** An event of the log, its data in the latest shape that this release knows. */
export interface RecordedEvent {
  readonly position: number
  readonly version: number
  readonly type: string
  /** The version whose shape `data` has. */
  readonly schemaVersion: number
  /** False for a type or a version that a newer release wrote: it is passed through as it was recorded. */
  readonly isKnown: boolean
  readonly at: Date
  readonly data: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, unknown>>
}

interface EventRow {
  readonly position: number
  readonly stream_version: number
  readonly type: string
  readonly schema_version: number
  readonly recorded_at: Date
  readonly data: unknown
  readonly metadata: unknown
}

// What is no object was not written by us; it must not keep anybody from reading the rest.
const looseObject = v.fallback(v.looseObject({}), {})

/**
 * All events of one stream, oldest first.
 * @param source where to read: the table, or for an auditor, who may not, its view.
 */
export async function readStream(
  sql: Database,
  streamId: string,
  source: 'runledger.event' | 'audit.event' = 'runledger.event',
): Promise<RecordedEvent[]> {
  const rows = await sql<EventRow[]>`
    select position, stream_version, type, schema_version, recorded_at, data, metadata
    from ${sql(source)}
    where stream_id = ${streamId}
    order by stream_version`
  return rows.map((row) => ({
    position: row.position,
    version: row.stream_version,
    type: row.type,
    at: row.recorded_at,
    metadata: v.parse(looseObject, row.metadata),
    ...upcast(row.type, row.schema_version, v.parse(looseObject, row.data)),
  }))
}
