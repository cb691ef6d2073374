// What an operator does to many submissions: a step at a time, each of them by what does it to one, and with an event of its
// own. Between two steps nothing is kept here: the caller has where it stood.
import { findOperatorKey } from '#account'
import { json } from '#database'
import type { Database } from '#database'
import { cancelSubmission, rerunInCampaign } from '#enqueue'
import { schemaVersion } from '#event'
import type { Metadata } from '#event'
import { createId, firstId } from '#id'

export const bulkActions = ['cancel', 'rerun', 'replay'] as const
export type BulkAction = (typeof bulkActions)[number]

/** What is left out filters nothing. Times are ISO 8601. */
export interface BulkFilter {
  readonly since?: string | undefined
  readonly until: string
  /** Its name. */
  readonly account?: string | undefined
  readonly language?: string | undefined
  readonly status?: string | undefined
  readonly verdict?: string | undefined
  readonly tag?: string | undefined
  /** For `replay`: how its delivery ended. */
  readonly webhook?: string | undefined
}

export interface BulkOrder {
  readonly action: BulkAction
  readonly filter: BulkFilter
  /** Those up to this id were done by an earlier step. */
  readonly after: string | null
  /** For `rerun`: under one name each is repeated once. */
  readonly campaign: string | null
  /** For `replay`. */
  readonly secret: string | null
}

export interface BulkStep {
  readonly count: number
  /** Whence to go on; null: that was all. */
  readonly next: string | null
  /** It stopped for want of room. */
  readonly busy: boolean
}

const itemsMost = 100
const stepMilliseconds = 1000
const rerunsAtOnce = 10

interface Item {
  readonly id: string
  readonly account_id: string
  readonly webhook_id: string | null
}

/** Of what one step looks at, how many fit; changes nothing. */
export async function countBulk(sql: Database, order: BulkOrder): Promise<BulkStep> {
  const { count, next } = await find(sql, order, null)
  return { count, next, busy: false }
}

/**
 * Does it to some of those that fit. What fails is told when it is the first: before, a step ends with what was done.
 * @param capacity unfinished submissions over all keys, from which on nothing is repeated.
 * @param metadata of each event.
 * @param signal nothing more is begun.
 */
export async function takeBulkStep(
  sql: Database,
  order: BulkOrder,
  capacity: number,
  metadata: Metadata,
  signal: AbortSignal,
): Promise<BulkStep> {
  const { items, next } = await find(sql, order, itemsMost)
  const act = createActor(sql, order, capacity, metadata)
  const end = performance.now() + stepMilliseconds
  let count = 0
  let last = order.after
  for (const item of items) {
    signal.throwIfAborted()
    const outcome = await act(item).catch((error: unknown) => {
      if (last === order.after) throw error
      return null
    })
    if (outcome === null) return { count, next: last, busy: false }
    if (outcome === 'busy') return { count, next: last ?? firstId, busy: true }
    if (outcome === 'done') count += 1
    last = item.id
    if (performance.now() > end && item !== items.at(-1)) return { count, next: last, busy: false }
  }
  return { count, next, busy: false }
}

/** `passed`: it has changed meanwhile, and fits no more. */
type Outcome = 'done' | 'passed' | 'busy'

function createActor(
  sql: Database,
  { action, campaign, secret }: BulkOrder,
  capacity: number,
  metadata: Metadata,
): (item: Item) => Promise<Outcome> {
  switch (action) {
    case 'cancel':
      return async ({ id, account_id: account }) => {
        const state = await cancelSubmission(sql, id, account, metadata)
        return state === 'cancelled' || state === 'requested' ? 'done' : 'passed'
      }
    case 'rerun': {
      const keys = new Map<string, string>()
      return async ({ id, account_id: account }) => {
        const apiKeyId = keys.get(account) ?? (await findOperatorKey(sql, account, metadata))
        keys.set(account, apiKeyId)
        const rerun = { id: createId(), apiKeyId, capacity }
        const by = { name: campaign ?? '', atOnce: rerunsAtOnce }
        const outcome = await rerunInCampaign(sql, id, by, rerun, metadata)
        if (outcome === 'received') return 'done'
        return outcome === 'busy' || outcome === 'queue_full' ? 'busy' : 'passed'
      }
    }
    case 'replay':
      return async ({ webhook_id: webhook }) => {
        const [row] = await sql<[{ state: string | null }]>`
          select runledger.replay_delivery(
            ${webhook}, ${secret}, ${schemaVersion}, ${json(sql, metadata)}
          ) as state`
        return row.state === 'delivered' || row.state === 'abandoned' ? 'done' : 'passed'
      }
  }
}

async function find(
  sql: Database,
  { action, filter, after, campaign }: BulkOrder,
  most: number | null,
): Promise<{ count: number; items: readonly Item[]; next: string | null }> {
  const asked = { ...filter, ...(campaign !== null && { campaign }) }
  const [{ found }] = await sql<
    [{ found: { count: number; items: readonly Item[] | null; next: string | null } }]
  >`
    select runledger.find_bulk(${action}, ${json(sql, asked)}, ${after ?? firstId}, ${most}) as found`
  return { ...found, items: found.items ?? [] }
}
