// A campaign: many submissions again, each once, some at a time. Which were repeated the database knows (runledger.rerun), so a
// campaign that was killed goes on when it is called again, and two calls share the work.
import { setTimeout as sleep } from 'node:timers/promises'
import { findOperatorKey } from '#account'
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import { rerunInCampaign } from '#enqueue'
import type { CampaignOutcome } from '#enqueue'
import { createId, firstId } from '#id'
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
export interface CampaignCounts {
  /** By this call; for `countCampaign`, what there is to do. */
  readonly due: number
  /** Repeated by an earlier call. */
  readonly done: number
  /** Its code and input are gone. */
  readonly purged: number
  /** No worker runs its language, or not beside its checker's. */
  readonly not_offered: number
}

export interface CampaignReport {
  readonly counts: CampaignCounts
  /** Of the whole campaign: how many were repeated, and how many of these were cancelled. */
  readonly repeated: number
  readonly cancelled: number
  /** Those whose verdict differs, in the order of the first ones. */
  readonly changes: readonly Row[]
}

type State = keyof CampaignCounts

const none: CampaignCounts = { due: 0, done: 0, purged: 0, not_offered: 0 }
const batchSize = 100
const pauseMilliseconds = 100

/** What a campaign would do. */
export async function countCampaign(
  sql: Database,
  campaign: Pick<Campaign, 'name'> & Selection,
): Promise<CampaignCounts> {
  const rows = await sql<{ state: State; count: number }[]>`
    select state, count(*) as count from (${select(sql, campaign)}) selected group by state`
  return { ...none, ...Object.fromEntries(rows.map(({ state, count }) => [state, count])) }
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
  const counts: Record<State, number> = { ...none }
  const repeat = createRepeater(sql, campaign, () => onProgress(counts.due))
  for (let after = firstId; ;) {
    const batch = await sql<Selected[]>`
      select * from (${select(sql, campaign)}) selected
      where id > ${after} order by id limit ${batchSize}`
    for (const selected of batch)
      counts[selected.state === 'due' ? await repeat(selected) : selected.state] += 1
    onProgress(counts.due)
    const last = batch.at(-1)
    if (last === undefined) break
    after = last.id
  }
  while ((await countUnderWay(sql, campaign.name)) > 0) {
    onProgress(counts.due)
    await sleep(pauseMilliseconds)
  }
  return { counts, ...(await readOutcome(sql, campaign.name)) }
}

interface Selected {
  readonly id: string
  readonly account_id: string
  readonly state: State
}

/** One after another, when there is room. @returns a function that resolves with how the submission then stands. */
function createRepeater(
  sql: Database,
  campaign: Campaign,
  onWait: () => void,
): (selected: Selected) => Promise<State> {
  const keys = new Map<string, string>()
  const metadata = { actor: { operator: campaign.operator } }
  const offer = async ({ id, account_id: account }: Selected): Promise<CampaignOutcome> => {
    const known = keys.get(account)
    const apiKeyId = known ?? (await findOperatorKey(sql, account, metadata))
    keys.set(account, apiKeyId)
    const { capacity } = campaign
    const rerun = { id: createId(), apiKeyId, capacity }
    return rerunInCampaign(sql, id, campaign, rerun, metadata)
  }
  return async (selected) => {
    for (;;) {
      const outcome = await offer(selected).catch((error: unknown) => {
        // The function gives up by itself, having written nothing.
        if (errorCode(error) === sqlState.queryCanceled) return 'busy'
        throw error
      })
      if (outcome === 'received') return 'due'
      if (outcome === 'done' || outcome === 'purged') return outcome
      if (outcome === 'gone') return 'purged'
      onWait()
      await sleep(pauseMilliseconds)
    }
  }
}

// Ids carry the clock of the web process that made them, which may be a little off.
const idSlack = '1 day'

function select(sql: Database, asked: Pick<Campaign, 'name'> & Selection) {
  const { name, since, until, language, verdict, tag, account } = asked
  return sql`
    select
      r.id, r.account_id,
      case
        when exists (
          select from runledger.rerun x where x.campaign = ${name} and x.rerun_of = r.id
        ) then 'done'
        when r.purged_at is not null then 'purged'
        when not runledger.is_offered(r.language, received.data ->> 'checker_language', offers)
          then 'not_offered'
        else 'due'
      end as state
    from runledger.result r
    join runledger.event received on received.stream_id = r.id and received.stream_version = 1
    cross join runledger.list_recent_offers('24 hours') offers
    where r.rerun_of is null and r.status in ('completed', 'failed')
      and r.id >= runledger.uuid_floor(greatest(${since}::timestamptz - ${idSlack}::interval, 'epoch'))
      and r.created_at >= ${since} and r.created_at < ${until}
      ${language === undefined ? sql`` : sql`and r.language = ${language}`}
      ${verdict === undefined ? sql`` : sql`and r.verdict = ${verdict}`}
      ${tag === undefined ? sql`` : sql`and r.tag = ${tag}`}
      ${account === undefined ? sql`` : sql`and r.account_id = (select id from runledger.account where name = ${account})`}`
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
