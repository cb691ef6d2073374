// What an operator does to many submissions, over HTTP or at the command line: a step at a time, each of them by what does it
// to one, and with an event of its own. Between two steps nothing is kept here: the caller keeps the cursor.
import { findOperatorKey } from '#account'
import { json } from '#database'
import type { Database } from '#database'
import { cancelSubmission, rerunInCampaign } from '#enqueue'
import { schemaVersion } from '#event'
import type { Metadata } from '#event'
import { createId, firstId } from '#id'

export const bulkActions = ['cancel', 'rerun', 'replay'] as const
type BulkAction = (typeof bulkActions)[number]

/** Characters of a campaign's name. */
export const campaignNameMost = 500

/** Of the queue, which belongs to those who submit. */
const shareOfQueue = 0.5

export interface BulkOrder {
  readonly action: BulkAction
  /** As `Bulk` of the OpenAPI document has it: what is left out filters nothing. Times are ISO 8601. */
  readonly filter: Readonly<Record<string, string | undefined>> & { readonly until: string }
  /** Those up to this id were done by an earlier step. */
  readonly after: string | null
  /** For `rerun`: under one name each is repeated once. */
  readonly campaign: string | null
  /** For `rerun`: so many of the campaign are under way at once. */
  readonly atOnce: number
  /** For `replay`. */
  readonly secret: string | null
}

/** What fits and was not rerun. */
interface Skipped {
  /** The campaign had it already. */
  readonly done: number
  /** Its code and input are gone. */
  readonly purged: number
  /** No worker runs its language, or not beside its checker's. */
  readonly not_offered: number
}

interface BulkStep {
  readonly count: number
  readonly skipped: Skipped
  /** Cursor for the next step; null at the end. */
  readonly next: string | null
  /** It stopped for want of room. */
  readonly busy: boolean
}

const itemsMost = 100
const stepMilliseconds = 1000

interface Item {
  readonly id: string
  readonly account_id: string
  readonly webhook_id: string | null
  readonly state: 'due' | keyof Skipped
}

/** Of what one step looks at, how many fit; changes nothing. */
export async function countBulk(sql: Database, order: BulkOrder): Promise<BulkStep> {
  const { count, skipped, next } = await find(sql, order, null)
  return { count, skipped, next, busy: false }
}

/**
 * Does it to some of those that fit. The first failure is thrown when nothing was done before it; else the step ends with what was done.
 * @param queueCapacity unfinished submissions over all keys; a share of it keeps reruns from being made.
 * @param metadata of each event.
 * @param signal no further item is started.
 */
export async function takeBulkStep(
  sql: Database,
  order: BulkOrder,
  queueCapacity: number,
  metadata: Metadata,
  signal: AbortSignal,
): Promise<BulkStep> {
  const { items, next } = await find(sql, order, itemsMost)
  const act = createActor(sql, order, queueCapacity, metadata)
  const end = performance.now() + stepMilliseconds
  let count = 0
  const skipped = { done: 0, purged: 0, not_offered: 0 }
  let last = order.after
  for (const item of items) {
    signal.throwIfAborted()
    const outcome = await act(item).catch((error: unknown) => {
      if (last === order.after) throw error
      return null
    })
    if (outcome === null) return { count, skipped, next: last, busy: false }
    if (outcome === 'busy') return { count, skipped, next: last ?? firstId, busy: true }
    if (outcome === 'changed') count += 1
    else if (outcome !== 'passed') skipped[outcome] += 1
    last = item.id
    if (performance.now() > end && item !== items.at(-1))
      return { count, skipped, next: last, busy: false }
  }
  return { count, skipped, next, busy: false }
}

/** `passed`: it has changed meanwhile, and fits no more. */
type Outcome = 'changed' | 'passed' | 'busy' | keyof Skipped

function createActor(
  sql: Database,
  { action, campaign, atOnce, secret }: BulkOrder,
  queueCapacity: number,
  metadata: Metadata,
): (item: Item) => Promise<Outcome> {
  switch (action) {
    case 'cancel':
      return async ({ id, account_id: account }) => {
        const state = await cancelSubmission(sql, id, account, metadata)
        return state === 'cancelled' || state === 'requested' ? 'changed' : 'passed'
      }
    case 'rerun': {
      const keys = new Map<string, string>()
      const capacity = Math.max(1, Math.floor(queueCapacity * shareOfQueue))
      return async ({ id, account_id: account, state }) => {
        if (state !== 'due') return state
        const apiKeyId = keys.get(account) ?? (await findOperatorKey(sql, account, metadata))
        keys.set(account, apiKeyId)
        const rerun = { id: createId(), apiKeyId, capacity }
        const by = { name: campaign ?? '', atOnce }
        const outcome = await rerunInCampaign(sql, id, by, rerun, metadata)
        switch (outcome) {
          case 'received':
            return 'changed'
          case 'done':
          case 'purged':
            return outcome
          case 'gone':
            return 'purged'
          default:
            return 'busy'
        }
      }
    }
    case 'replay':
      return async ({ webhook_id: webhook }) => {
        const state = await replayDelivery(sql, webhook ?? '', secret ?? '', metadata)
        return state === 'delivered' || state === 'abandoned' ? 'changed' : 'passed'
      }
  }
}

/**
 * Sends a webhook again that has ended, signed with this secret.
 * @returns the state that it had: of another than delivered or abandoned nothing was done; `purged`: its address is gone;
 * null: there is none.
 */
export async function replayDelivery(
  sql: Database,
  webhook: string,
  secret: string,
  metadata: Metadata,
): Promise<string | null> {
  const [row] = await sql<[{ state: string | null }]>`
    select runledger.replay_delivery(${webhook}, ${secret}, ${schemaVersion}, ${json(sql, metadata)}) as state`
  return row.state
}

async function find(
  sql: Database,
  { action, filter, after, campaign }: BulkOrder,
  most: number | null,
): Promise<Found> {
  const asked = { ...filter, ...(campaign !== null && { campaign }) }
  const [{ found }] = await sql<[{ found: Found }]>`
    select runledger.find_bulk(${action}, ${json(sql, asked)}, ${after ?? firstId}, ${most}) as found`
  return found
}

interface Found extends Omit<BulkStep, 'busy'> {
  readonly items: readonly Item[]
}
