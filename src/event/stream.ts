// Reading the log. Writing is done by the functions in sql/functions, each together with what belongs to its event.
import * as v from 'valibot'
import type { Database } from '#database'

/** An event as it stands in the log. Types this code does not know (a newer release wrote them) are passed through. */
export interface RecordedEvent {
  readonly position: number
  readonly version: number
  readonly type: string
  readonly schemaVersion: number
  readonly at: Date
  readonly data: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, unknown>>
}

const looseObject = v.looseObject({})

/** All events of one stream, oldest first. */
export async function readStream(sql: Database, streamId: string): Promise<RecordedEvent[]> {
  const rows = await sql`
    select position, stream_version, type, schema_version, recorded_at, data, metadata
    from runledger.event
    where stream_id = ${streamId}
    order by stream_version`
  return rows.map((row) => ({
    position: row['position'] as number,
    version: row['stream_version'] as number,
    type: row['type'] as string,
    schemaVersion: row['schema_version'] as number,
    at: row['recorded_at'] as Date,
    data: v.parse(looseObject, row['data']),
    metadata: v.parse(looseObject, row['metadata']),
  }))
}
