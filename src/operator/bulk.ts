// Bulk actions of an operator, over HTTP or at the command line: cancels, reruns or replays many submissions in bounded steps.
// The function for a single submission changes each one and writes its event. The caller keeps the cursor between steps.
import { findOperatorKey } from '#account'
import { cancelOnAbort, json } from '#database'
import type { Database } from '#database'
import { cancelSubmission, rerunInCampaign } from '#enqueue'
import { schemaVersion } from '#event'
import type { Metadata } from '#event'
import { createId, firstId } from '#id'

export const bulkActions = ['cancel', 'rerun', 'replay'] as const
type BulkAction = (typeof bulkActions)[number]

/** The most characters of a campaign's name. */
export const campaignNameMost = 500

/** The share of the queue that reruns may fill. The rest is left to submitters. */
const shareOfQueue = 0.5

/** The most submissions of a campaign that are unfinished at once, unless the request says otherwise. */
const rerunsAtOnce = 10

/** The fields of `Bulk` of the OpenAPI document. */
export interface BulkRequest {
  readonly action: BulkAction
  /** An absent field filters nothing. Times are ISO 8601. */
  readonly filter: Readonly<Record<string, string | undefined>> & { readonly until: string }
  /** The cursor: submissions up to this id were handled by an earlier step. */
  readonly after?: string | null | undefined
  /** For `rerun`: under one campaign name each submission is repeated once. */
  readonly campaign?: string | undefined
  /** For `rerun`: the most submissions of the campaign that are unfinished at once. */
  readonly at_once?: number | undefined
  /** For `replay`: the secret that signs the webhook. */
  readonly secret?: string | undefined
}

/**
 * Counts matching submissions that were not rerun. done: the campaign has repeated them before; purged: their code and input
 * were removed; not_offered: no worker runs their language, or none runs it together with their checker's language.
 */
type Skipped = Readonly<Record<'done' | 'purged' | 'not_offered', number>>

interface BulkStep {
  readonly count: number
  readonly skipped: Skipped
  /** The cursor for the next step; null at the end. */
  readonly next: string | null
  /** The step stopped because the queue or the campaign had no room. */
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

/** Counts the matching submissions among those that one step looks at. Changes nothing. */
export async function countBulk(sql: Database, request: BulkRequest): Promise<BulkStep> {
  const { count, skipped, next } = await find(sql, request, null)
  return { count, skipped, next, busy: false }
}

/**
 * Applies the action to some of the matching submissions.
 * @param queueCapacity the most unfinished submissions over all keys; reruns may fill a share of it.
 * @param metadata of each event.
 * @param signal stops the step before the next submission.
 * @throws a failure of the first submission. After a later failure the step returns what was done.
 */
export async function takeBulkStep(
  sql: Database,
  request: BulkRequest,
  queueCapacity: number,
  metadata: Metadata,
  signal: AbortSignal,
): Promise<BulkStep> {
  const { items, next } = await find(sql, request, itemsMost)
  const act = createActor(sql, request, queueCapacity, metadata)
  const end = performance.now() + stepMilliseconds
  let count = 0
  const skipped = { done: 0, purged: 0, not_offered: 0 }
  const { after = null } = request
  let last = after
  for (const item of items) {
    signal.throwIfAborted()
    const outcome = await act(item).catch((error: unknown) => {
      if (last === after) throw error
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

/** `passed`: the submission has changed meanwhile and no longer matches. */
type Outcome = 'changed' | 'passed' | 'busy' | keyof Skipped

function createActor(
  sql: Database,
  { action, campaign = '', at_once: atOnce = rerunsAtOnce, secret = '' }: BulkRequest,
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
        const by = { name: campaign, atOnce }
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
        const state = await replayDelivery(sql, webhook ?? '', secret, metadata)
        return state === 'delivered' || state === 'abandoned' ? 'changed' : 'passed'
      }
  }
}

/**
 * Sends a delivered or abandoned webhook again, signed with this secret.
 * @param signal withdraws an unsent statement.
 * @returns the webhook's state before the call. In any state but `delivered` and `abandoned` nothing was done. `purged`: the
 * webhook's address was removed. null: there is no such webhook.
 */
export async function replayDelivery(
  sql: Database,
  webhook: string,
  secret: string,
  metadata: Metadata,
  signal?: AbortSignal,
): Promise<string | null> {
  const query = sql<[{ state: string | null }]>`
    select runledger.replay_delivery(${webhook}, ${secret}, ${schemaVersion}, ${json(sql, metadata)}) as state`
  const [row] = await cancelOnAbort(query, signal)
  return row.state
}

async function find(
  sql: Database,
  { action, filter, after, campaign }: BulkRequest,
  most: number | null,
): Promise<Found> {
  const [{ found }] = await sql<[{ found: Found }]>`
    select runledger.find_bulk(${action}, ${json(sql, { ...filter, campaign })}, ${after ?? firstId}, ${most}) as found`
  return found
}

interface Found extends Omit<BulkStep, 'busy'> {
  readonly items: readonly Item[]
}
