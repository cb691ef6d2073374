// The heads of the log, the last event of every stream, in a few digests that an auditor can keep elsewhere. A chain of
// hashes shows what was changed inside it, but not that its end was cut off, or that all of it was computed anew: against
// both only something helps that was written down before, in another place. Reads audit views alone.
import * as v from 'valibot'
import type { Database } from '#database'
import { listParts } from './verify.ts'

const digits = v.pipe(v.string(), v.regex(/^\d{1,20}$/))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** What one part of the log, the streams from `lower` up to, without, `upper`, ended with. */
const partSchema = v.object({
  lower: v.pipe(v.string(), v.uuid()),
  upper: v.nullable(v.pipe(v.string(), v.uuid())),
  streams: count,
  events: count,
  /** SHA-256 over the hashes of the streams' last events, in the order of the streams' ids, in hexadecimal. */
  digest: v.pipe(v.string(), v.hash(['sha256'])),
})

const headsSchema = v.object({
  /** What belongs to them: events up to this position … */
  position: count,
  /** … of transactions before this one: all of those had ended, so that nothing is added to them later. */
  transaction: digits,
  /** And of this one and later ones, which this server had not come to: a log that was restored has those of another. */
  unreached: v.optional(digits),
  parts: v.array(partSchema),
})
/** The heads as they are kept: parts without any event are left out. */
export type Heads = v.InferOutput<typeof headsSchema>
type HeadsPart = Heads['parts'][number]
type Cut = Pick<Heads, 'position' | 'transaction' | 'unreached'>

/** Reads the heads of everything that has happened so far, but for transactions still open. */
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

/** Reads what was kept; null when it is nothing of ours. */
export function parseHeads(text: string): Heads | null {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), headsSchema), text)
  return parsed.success ? parsed.output : null
}

/** Reads the same parts up to the same event again. @returns those that differ, as they were and as they are. */
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
