// Digests of every stream's last event. An auditor keeps them elsewhere, because a chain of hashes does not show that its
// end was cut off or that all of it was recomputed. This module reads audit views only.
import * as v from 'valibot'
import type { Database } from '#database'
import { firstId, floorId } from '#id'
import { count } from '#schema'

const digits = v.pipe(v.string(), v.regex(/^\d{1,20}$/))

/** The streams from `lower` inclusive to `upper` exclusive. */
const partSchema = v.object({
  lower: v.pipe(v.string(), v.uuid()),
  upper: v.nullable(v.pipe(v.string(), v.uuid())),
  streams: count,
  events: count,
  /** SHA-256 in hexadecimal over the hashes of the streams' last events, ordered by stream id. */
  digest: v.pipe(v.string(), v.hash(['sha256'])),
})

const headsSchema = v.object({
  /** The heads cover events up to this position … */
  position: count,
  /** … of transactions before this one. All of those had ended, so nothing is added to them later. */
  transaction: digits,
  /** … and of this transaction and later ones. The server had not reached these numbers, so their events were restored. */
  unreached: v.optional(digits),
  parts: v.array(partSchema),
})
/** The digests of a log; parts without streams are left out. */
type Heads = v.InferOutput<typeof headsSchema>
type HeadsPart = Heads['parts'][number]
type Cut = Pick<Heads, 'position' | 'transaction' | 'unreached'>

/** Reads the digests of all events except those of open transactions. */
export async function readHeads(sql: Database): Promise<Heads> {
  const [row] = await sql`
    with settled as (
      select pg_snapshot_xmin(now) as transaction, pg_snapshot_xmax(now) as unreached from pg_current_snapshot() now
    )
    select settled.transaction::text, settled.unreached::text, (
      select coalesce(max(position), 0) from audit.event
      where transaction_id < settled.transaction or transaction_id >= settled.unreached
    ) as position
    from settled`
  const cut = row as unknown as Cut
  const parts: HeadsPart[] = []
  for (const { lower, upper } of await listParts(sql)) {
    const part = await readPart(sql, cut, lower, upper)
    if (part.streams > 0) parts.push(part)
  }
  return { ...cut, parts }
}

/** Parses kept digests; null when the text holds none. */
export function parseHeads(text: string): Heads | null {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), headsSchema), text)
  return parsed.success ? parsed.output : null
}

/** Reads the same parts again up to the same position. @returns the parts that differ. */
export async function compareHeads(
  sql: Database,
  kept: Heads,
): Promise<{ readonly kept: HeadsPart; readonly present: HeadsPart }[]> {
  const differing: { readonly kept: HeadsPart; readonly present: HeadsPart }[] = []
  for (const part of kept.parts) {
    const present = await readPart(sql, kept, part.lower, part.upper)
    const isSame = (['streams', 'events', 'digest'] as const).every(
      (field) => present[field] === part[field],
    )
    if (!isSame) differing.push({ kept: part, present })
  }
  return differing
}

async function readPart(
  sql: Database,
  { position, transaction, unreached }: Cut,
  lower: string,
  upper: string | null,
): Promise<HeadsPart> {
  const [row] = await sql<[Pick<HeadsPart, 'streams' | 'events' | 'digest'>]>`
    select count(*) as streams, coalesce(sum(events), 0)::bigint as events,
      encode(sha256(coalesce(string_agg(decode(head, 'hex'), ''::bytea order by stream_id), '')), 'hex') as digest
    from (
      select stream_id, count(*) as events, (array_agg(hash order by stream_version desc))[1] as head
      from audit.event
      where stream_id >= ${lower} ${upper === null ? sql`` : sql`and stream_id < ${upper}`}
        and position <= ${position}
        and (transaction_id < ${transaction}::text::xid8 or transaction_id >= ${unreached ?? null}::text::xid8)
      group by stream_id
    ) streams`
  return { lower, upper, ...row }
}

const dayMilliseconds = 86_400_000

/** Divides the ids at partition bounds and days. The parts also cover ids between and beyond partitions. */
async function listParts(sql: Database): Promise<Pick<HeadsPart, 'lower' | 'upper'>[]> {
  const rows = await sql<{ lower: string; upper: string; starts_at: Date; ends_at: Date }[]>`
    select lower, upper, starts_at, ends_at from audit.partition
    where table_name = 'event' and lower is not null
    order by lower`
  const cuts = new Set([firstId])
  for (const { lower, upper, starts_at: from, ends_at: to } of rows) {
    cuts.add(lower)
    for (let at = from.getTime() + dayMilliseconds; at < to.getTime(); at += dayMilliseconds)
      cuts.add(floorId(at))
    cuts.add(upper)
  }
  const lowers = [...cuts].toSorted()
  return lowers.map((lower, index) => ({ lower, upper: lowers[index + 1] ?? null }))
}
