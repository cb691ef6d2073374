// Reads the log: a stream, and the last event of each stream, to be kept elsewhere. After a restore to an earlier moment, the
// comparison of kept ones with the log names what was lost; the digests of heads.ts only show whether anything was lost.
// Functions in sql/functions write the log.
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

/** The last event of a stream, as somebody has kept it. A caller may know only the id. */
const headSchema = v.object({
  id: v.pipe(v.string(), v.uuid(), v.toLowerCase()),
  version: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  type: v.optional(v.string()),
  /** Hexadecimal. */
  hash: v.optional(v.pipe(v.string(), v.hash(['sha256']))),
})
export type StreamHead = v.InferOutput<typeof headSchema>

/** `lost`: the log has no such stream. `older`: the stream ends earlier. `other`: it has another event at that version. */
export interface Lack {
  readonly id: string
  readonly finding: 'lost' | 'older' | 'other'
  /** Null where it was not kept. */
  readonly kept: { readonly version: number | null; readonly type: string | null }
  /** The stream's last event now; null when the stream is lost. */
  readonly now: { readonly version: number; readonly type: string } | null
}

const rowsAtOnce = 1000
// No transaction of this service takes so long, so an event recorded later than that has a later position.
const slackMinutes = 10

/**
 * Lists the last event of each stream, or of each stream with an event since `since`, newest stream first.
 * @yields rows in groups, so that a long log needs little memory.
 */
export async function* listStreamHeads(
  sql: Database,
  since: Date | null,
): AsyncGenerator<readonly Required<StreamHead>[]> {
  const changed =
    since === null
      ? sql``
      : sql`
        where stream_id in (
          select stream_id from audit.event
          where recorded_at >= ${since} and position > coalesce((
            select position from audit.event
            where recorded_at < ${since}::timestamptz - make_interval(mins => ${slackMinutes})
            order by position desc limit 1
          ), 0)
        )`
  yield* sql<Required<StreamHead>[]>`
    select distinct on (stream_id) stream_id as id, stream_version as version, type, hash
    from audit.event ${changed}
    order by stream_id desc, stream_version desc`.cursor(rowsAtOnce)
}

/** Parses a line; null unless it is a JSON object whose `id` is a UUID. Unknown fields are ignored. */
export function parseStreamHead(line: string): StreamHead | null {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), headSchema), line)
  return parsed.success ? parsed.output : null
}

/** Returns what the log lacks of the kept streams. A stream with later events lacks nothing. */
export async function findLacks(sql: Database, heads: readonly StreamHead[]): Promise<Lack[]> {
  const ids = heads.map(({ id }) => id)
  const versions = heads.map(({ version = null }) => version)
  const rows = await sql<Row[]>`
    select last.stream_version as version, last.type, at.hash
    from unnest(${ids}::uuid[], ${versions as number[]}::integer[]) with ordinality kept (id, version, number)
    left join lateral (
      select e.stream_version, e.type from audit.event e where e.stream_id = kept.id order by e.stream_version desc limit 1
    ) last on true
    left join audit.event at on at.stream_id = kept.id and at.stream_version = kept.version
    order by kept.number`
  return heads.flatMap((head, index) => describeLack(head, rows[index]))
}

interface Row {
  readonly version: number | null
  readonly type: string | null
  /** The hash of the event at the kept version. */
  readonly hash: string | null
}

function describeLack({ id, version, type, hash }: StreamHead, row: Row | undefined): Lack[] {
  const kept = { version: version ?? null, type: type ?? null }
  if (!row || row.version === null || row.type === null)
    return [{ id, finding: 'lost', kept, now: null }]
  const now = { version: row.version, type: row.type }
  if (row.version < (version ?? 0)) return [{ id, finding: 'older', kept, now }]
  if (hash !== undefined && version !== undefined && row.hash !== hash)
    return [{ id, finding: 'other', kept, now }]
  return []
}
