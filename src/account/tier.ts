// Tiers: what keys may use. Operators define them.
import { json } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { TierEvent } from '#event'
import type { limitSpellings } from '#language'
import { actor } from './actor.ts'

/** Seconds, bytes and a count, as the log spells limits. */
export type TierLimits = Readonly<Partial<Record<LimitSpelling, number>>>

type LimitSpelling = (typeof limitSpellings)[keyof typeof limitSpellings]

/** As it is said of a tier: what is left out stays, or is as usual for a new one. */
export type Tier = TierEvent['data']

export interface ListedTier extends Required<Tier> {
  readonly limits: TierLimits
  /** Keys in force. */
  readonly keys: number
}

/** By name. */
export async function listTiers(sql: Database): Promise<ListedTier[]> {
  return sql<ListedTier[]>`select * from audit.tier order by name`
}

/** Makes a tier, or changes it for all its keys. @throws 23514 for a number that none can have. */
export async function setTier(sql: Database, tier: Tier, operator: string): Promise<void> {
  const event: TierEvent = { type: 'tier.defined', data: tier }
  await sql`
    select runledger.define_tier(
      ${tier.name}, ${schemaVersion}, ${json(sql, event.data)}, ${actor(sql, operator)}
    )`
}
