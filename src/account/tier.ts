// Tiers: the limits of keys. Operators define them.
import { json } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { EventData, Metadata } from '#event'
import type { limitSpellings } from '#language'

/** Limits in seconds, bytes and a count, as the log spells them. */
export type TierLimits = Readonly<Partial<Record<LimitSpelling, number>>>

type LimitSpelling = (typeof limitSpellings)[keyof typeof limitSpellings]

/** A tier's definition. A field that is left out keeps its value, or has its default in a new tier. */
export type Tier = EventData['tier.defined']

export interface ListedTier extends Required<Tier> {
  readonly limits: TierLimits
  /** How many keys in force have this tier. */
  readonly keys: number
}

/** Lists the tiers by name. */
export async function listTiers(sql: Database): Promise<ListedTier[]> {
  return sql<ListedTier[]>`select * from audit.tier order by name`
}

/** Creates a tier, or changes it for all its keys. @throws 23514 for a number out of range. */
export async function setTier(sql: Database, tier: Tier, operator: string): Promise<void> {
  const metadata: Metadata = { actor: { operator } }
  await sql`
    select runledger.define_tier(${schemaVersion}, ${json(sql, tier)}, ${json(sql, metadata)})`
}
