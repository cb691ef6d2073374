// A campaign: many submissions again, each once, some at a time. Which were repeated the database knows (runledger.rerun), so a
// campaign that was killed goes on when it is called again, and two calls share the work.
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import { countBulk, takeBulkStep } from '#operator'
import type { BulkOrder, Skipped } from '#operator'
import type { Row } from './output.ts'

/** Submissions that have ended and are no reruns; what is left out filters nothing. */
export interface Selection {
  readonly since: Date
  readonly until: Date
  readonly language: string | undefined
  readonly verdict: string | undefined
  readonly tag: string | undefined
  /** Its name. */
  readonly account: string | undefined
}

export interface Campaign extends Selection {
  readonly name: string
  /** Of the campaign, whoever called it. */
  readonly atOnce: number
  /** Unfinished submissions over all keys, from which on it waits. */
  readonly capacity: number
  readonly operator: string
}

/** How each that was selected stands. */
export interface CampaignCounts extends Skipped {
  /** By this call; for `countCampaign`, what there is to do. */
  readonly due: number
}

export interface CampaignReport {
  readonly counts: CampaignCounts
  /** Of the whole campaign: how many were repeated, and how many of these were cancelled. */
  readonly repeated: number
  readonly cancelled: number
  /** Those whose verdict differs, in the order of the first ones. */
  readonly changes: readonly Row[]
}

const none: CampaignCounts = { due: 0, done: 0, purged: 0, not_offered: 0 }
const pauseMilliseconds = 100

/** What a campaign would do. */
export async function countCampaign(
  sql: Database,
  campaign: Pick<Campaign, 'name'> & Selection,
): Promise<CampaignCounts> {
  const order = describeOrder({ atOnce: 0, ...campaign })
  let counts = none
  for (let after: string | null = null; ;) {
    const { count, skipped, next } = await countBulk(sql, { ...order, after })
    counts = add(counts, count, skipped)
    if (next === null) return counts
    after = next
  }
}

/**
 * Resolves when all has been repeated and has ended.
 * @param onProgress called now and then, with what this call has repeated.
 */
export async function runCampaign(
  sql: Database,
  campaign: Campaign,
  onProgress: (repeated: number) => void = () => {},
): Promise<CampaignReport> {
  const order = describeOrder(campaign)
  const metadata = { actor: { operator: campaign.operator } }
  const { signal } = new AbortController()
  let counts = none
  for (let after: string | null = null; ;) {
    const taking = takeBulkStep(sql, { ...order, after }, campaign.capacity, metadata, signal)
    const step = await taking.catch((error: unknown) => {
      // The function gives up by itself, having written nothing.
      if (errorCode(error) === sqlState.queryCanceled) return null
      throw error
    })
    if (step !== null) counts = add(counts, step.count, step.skipped)
    onProgress(counts.due)
    if (step?.next === null) break
    after = step?.next ?? after
    if (step?.busy !== false) await sleep(pauseMilliseconds)
  }
  while ((await countUnderWay(sql, campaign.name)) > 0) {
    onProgress(counts.due)
    await sleep(pauseMilliseconds)
  }
  return { counts, ...(await readOutcome(sql, campaign.name)) }
}

function describeOrder({
  name,
  atOnce,
  since,
  until,
  ...filter
}: Pick<Campaign, 'name' | 'atOnce'> & Selection): BulkOrder {
  const { language, verdict, tag, account } = filter
  const times = { since: since.toISOString(), until: until.toISOString() }
  const chosen = { ...times, language, verdict, tag, account }
  return { action: 'rerun', filter: chosen, after: null, campaign: name, atOnce, secret: null }
}

function add(counts: CampaignCounts, due: number, skipped: Skipped): CampaignCounts {
  return {
    due: counts.due + due,
    done: counts.done + skipped.done,
    purged: counts.purged + skipped.purged,
    not_offered: counts.not_offered + skipped.not_offered,
  }
}

async function countUnderWay(sql: Database, name: string): Promise<number> {
  const [{ count }] = await sql<[{ count: number }]>`
    select count(*) as count
    from runledger.pending p
    join runledger.rerun x on x.submission_id = p.submission_id
    where x.campaign = ${name}`
  return count
}

async function readOutcome(sql: Database, name: string): Promise<Omit<CampaignReport, 'counts'>> {
  const [sums] = await sql<[{ repeated: number; cancelled: number }]>`
    select count(*) as repeated, count(*) filter (where status = 'cancelled') as cancelled
    from audit.rerun where campaign = ${name}`
  const changes = await sql`
    select submission_id as id, rerun_id, verdict_before, verdict_after, tag
    from audit.rerun where campaign = ${name} and changed
    order by submission_id`
  return { ...sums, changes: changes.map((row) => ({ ...row })) }
}
