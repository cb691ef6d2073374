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

/** Null: without a limit. */
export interface Tier {
  readonly name: string
  /** In any 60 seconds. */
  readonly requestsPerMinute: number | null
  /** At once, per key. */
  readonly concurrentExecutions: number | null
  /** The most that a submission may ask for; what is left out stays, or is as usual. */
  readonly limits: TierLimits
  /** The most that an account may have in blobs; left out, it stays, or is as usual. */
  readonly blobBytes?: number | null
  /** How many times an account's share of the slots that of weight 1 is; left out, it stays, or is 1. */
  readonly weight?: number
  /** What a submission may run in all, by the clock; left out, it stays, or is 600. */
  readonly totalSeconds?: number
  /** The most that is kept in a day of what an account's runs write; left out, it stays, or is without a limit. */
  readonly outputBytes?: number | null
  /** That a program may use at once; null: its slot's share of the worker's. Left out, it stays, or is null. */
  readonly cores?: number | null
}

export interface ListedTier extends Required<Tier> {
  /** Keys in force. */
  readonly keys: number
}

/** By name. */
export async function listTiers(sql: Database): Promise<ListedTier[]> {
  return sql<ListedTier[]>`
    select name, requests_per_minute as "requestsPerMinute", concurrent_executions as "concurrentExecutions", limits, blob_bytes as "blobBytes", weight,
      total_seconds as "totalSeconds", output_bytes as "outputBytes", cores, keys
    from audit.tier
    order by name`
}

/** Makes a tier, or changes it for all its keys. */
export async function setTier(sql: Database, tier: Tier, operator: string): Promise<void> {
  const { name, requestsPerMinute: requests, concurrentExecutions: concurrent, limits } = tier
  const { blobBytes, weight, totalSeconds, outputBytes, cores } = tier
  const event: TierEvent = {
    type: 'tier.defined',
    data: {
      name,
      requests_per_minute: requests,
      concurrent_executions: concurrent,
      limits,
      ...(blobBytes !== undefined && { blob_bytes: blobBytes }),
      ...(weight !== undefined && { weight }),
      ...(totalSeconds !== undefined && { total_seconds: totalSeconds }),
      ...(outputBytes !== undefined && { output_bytes: outputBytes }),
      ...(cores !== undefined && { cores }),
    },
  }
  await sql`
    select runledger.define_tier(
      ${name}, ${requests}, ${concurrent}, ${schemaVersion}, ${json(sql, event.data)}, ${actor(sql, operator)}, ${json(sql, limits)}
    )`
}
