// Reads the log. Functions in sql/functions write it.
import * as v from 'valibot'
import type { Database } from '#database'

/** An event as it was written, perhaps by a newer release. */
export interface RecordedEvent {
  readonly position: number
  readonly version: number
  readonly type: string
  /** The version of the shape of `data`. */
  readonly schemaVersion: number
  readonly at: Date
  /** Hexadecimal. */
  readonly hash: string
  readonly data: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, unknown>>
}

// An event may hold something else when another program wrote it. The rest of the stream must stay readable.
const looseObject = v.fallback(v.looseObject({}), {})

/**
 * Reads one stream, oldest event first.
 * @param source the view `audit.event` for auditors, who may read nothing else.
 */
export async function readStream(
  sql: Database,
  streamId: string,
  source: 'runledger.event' | 'audit.event' = 'runledger.event',
): Promise<RecordedEvent[]> {
  const rows = await sql<RecordedEvent[]>`
    select position, stream_version as version, type, schema_version as "schemaVersion", recorded_at as at, data, metadata,
      ${source === 'audit.event' ? sql`hash` : sql`encode(hash, 'hex') as hash`}
    from ${sql(source)}
    where stream_id = ${streamId}
    order by stream_version`
  return rows.map((row) => ({
    ...row,
    metadata: v.parse(looseObject, row.metadata),
    data: v.parse(looseObject, row.data),
  }))
}
