// Tiers: what a key may use. An operator makes and changes them; a key names one.
import { json } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { TierEvent } from '#event'
import { actor } from './actor.ts'

/** What a key of a tier may use; null is without a limit. */
export interface Tier {
  readonly name: string
  /** In any 60 seconds. */
  readonly requestsPerMinute: number | null
  /** Of one key, at once. */
  readonly concurrentExecutions: number | null
}

/** A tier as the list shows it. */
export interface ListedTier extends Tier {
  /** How many keys of it are in force. */
  readonly keys: number
}

/** All tiers, by name. */
export async function listTiers(sql: Database): Promise<ListedTier[]> {
  return sql<ListedTier[]>`
    select name, requests_per_minute as "requestsPerMinute", concurrent_executions as "concurrentExecutions", keys
    from audit.tier
    order by name`
}

/** Makes a tier, or changes one for all its keys. */
export async function setTier(sql: Database, tier: Tier, operator: string): Promise<void> {
  const { name, requestsPerMinute: requests, concurrentExecutions: concurrent } = tier
  const event: TierEvent = {
    type: 'tier.defined',
    data: { name, requests_per_minute: requests, concurrent_executions: concurrent },
  }
  await sql`
    select runledger.define_tier(
      ${name}, ${requests}, ${concurrent}, ${schemaVersion}, ${json(sql, event.data)}, ${actor(sql, operator)}
    )`
}
