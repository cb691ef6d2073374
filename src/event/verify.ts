// Checks the hash chains of the whole log. A hash covers an event's content and the hash before it, so
// audit.broken_chain shows changes, removals and insertions. Asked a day at a time, in bounded memory. Reads audit
// views alone.
import type { Database } from '#database'
import { firstId } from '#id'

/** Its hash or version does not follow from the one before. */
export interface BrokenLink {
  readonly position: number
  readonly streamId: string
  readonly version: number
  readonly type: string
  readonly at: Date
}

export interface Verification {
  readonly events: number
  readonly broken: number
  /** The broken one with the lowest position. */
  readonly first: BrokenLink | null
}

/** Ids from `lower` up to, without, `upper`. */
export interface Part {
  readonly lower: string
  readonly upper: string | null
}

const dayMilliseconds = 86_400_000

/** @param onProgress called with the share done (0 to 1). */
export async function verifyChains(
  sql: Database,
  onProgress: (share: number, soFar: Verification) => void = () => {},
): Promise<Verification> {
  const parts = await listParts(sql)
  let sum: Verification = { events: 0, broken: 0, first: null }
  for (const [index, part] of parts.entries()) {
    sum = add(sum, await verifyPart(sql, part))
    onProgress((index + 1) / parts.length, sum)
  }
  return sum
}

/** Cuts at partition bounds and days; covers ids between and beyond partitions. */
export async function listParts(sql: Database): Promise<Part[]> {
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

async function verifyPart(sql: Database, { lower, upper }: Part): Promise<Verification> {
  const within = sql`stream_id >= ${lower} ${upper === null ? sql`` : sql`and stream_id < ${upper}`}`
  const [{ count: events }] = await sql<[{ count: number }]>`
    select count(*) from audit.event where ${within}`
  if (events === 0) return { events: 0, broken: 0, first: null }
  const [row] = await sql<(BrokenLink & { broken: number })[]>`
    select position, stream_id as "streamId", stream_version as version, type, recorded_at as at, count(*) over () as broken
    from audit.broken_chain where ${within}
    order by position limit 1`
  if (row === undefined) return { events, broken: 0, first: null }
  const { broken, ...first } = row
  return { events, broken, first }
}

function add(left: Verification, right: Verification): Verification {
  const firsts = [left.first, right.first].filter((link) => link !== null)
  return {
    events: left.events + right.events,
    broken: left.broken + right.broken,
    first: firsts.toSorted((a, b) => a.position - b.position)[0] ?? null,
  }
}

/** The smallest UUID v7 of a time, as in runledger.uuid_floor. */
function floorId(milliseconds: number): string {
  const digits = milliseconds.toString(16).padStart(12, '0').padEnd(32, '0')
  return [8, 12, 16, 20, 32]
    .map((end, index, ends) => digits.slice(ends[index - 1] ?? 0, end))
    .join('-')
}
