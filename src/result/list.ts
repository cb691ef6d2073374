// Lists an account's results page by page. An account may have millions of results, and those that match a filter may be
// rare or absent, but the cost of a page is bounded. /api/submissions uses cursors; Judge0 numbers its pages.
import type { Database } from '#database'
import type { Verdict } from '#event'
import { floorId } from '#id'
import { isFinal, toRecord } from './record.ts'
import type { ResultRow } from './record.ts'
import { summaryEntries } from './schema.ts'
import type { ResultStatus, ResultSummary } from './schema.ts'

export interface ResultFilter {
  readonly status?: ResultStatus | undefined
  readonly verdict?: Verdict | undefined
  readonly language?: string | undefined
  readonly tag?: string | undefined
  /** Only submissions received at this time or later. Times are ISO 8601. */
  readonly since?: string | undefined
  /** Only submissions received before this time. */
  readonly until?: string | undefined
  /** Only ids below this one. */
  readonly before?: string | undefined
  readonly limit: number
}

interface ResultPage {
  /** Newest first, at most `limit`. */
  readonly results: readonly ResultSummary[]
  /** The next page's `before`; null on the last page. Any page may have fewer than `limit` results, or none. */
  readonly next: string | null
}

/** The most rows that one page examines, which takes about 50 ms. */
const mostLooked = 20_000

// A web process makes an id, and the database its time of creation. Their clocks may differ by this much.
const clockMilliseconds = 300_000

/** Reads one page of results. @param most the most rows to examine. */
export async function listResults(
  sql: Database,
  accountId: string,
  filter: ResultFilter,
  most = mostLooked,
): Promise<ResultPage> {
  const { status, verdict, language, tag, since, until, before, limit } = filter
  const isUnfinished = status !== undefined && !isFinal({ status })
  // Indexes serve an account's submissions, and those with a tag, in the order of ids.
  const mine = sql`
    r.account_id = ${accountId}
    ${tag === undefined ? sql`` : sql`and r.tag = ${tag}`}
    ${since === undefined ? sql`` : sql`and r.id >= ${floorId(Math.max(0, Date.parse(since) - clockMilliseconds))}`}
    ${until === undefined ? sql`` : sql`and r.id < ${floorId(Math.max(0, Date.parse(until) + clockMilliseconds))}`}
    ${before === undefined ? sql`` : sql`and r.id < ${before}`}`
  const looked = isUnfinished
    ? sql`select * from runledger.unfinished r where ${mine} offset 0`
    : sql`select * from runledger.submission r where ${mine} order by r.id desc limit ${most}`
  const lastLooked = sql`
    select r.id from runledger.submission r where ${mine} order by r.id desc offset ${most - 1} limit 1`
  // One row more shows whether there is a next page. The end of a page that is not full is read in the same snapshot.
  // Otherwise submissions that arrive meanwhile would shift it, and the next page would repeat rows.
  const rows = await sql<(ResultRow & { last_looked: string | null })[]>`
    select page.*, case when count(*) over () <= ${limit} then (${lastLooked}) end as last_looked
    from (
      select * from (${looked}) r
      where true
        ${status === undefined ? sql`` : sql`and r.status = ${status}`}
        ${verdict === undefined ? sql`` : sql`and r.verdict = ${verdict}`}
        ${language === undefined ? sql`` : sql`and r.language = ${language}`}
        ${since === undefined ? sql`` : sql`and r.created_at >= ${since}`}
        ${until === undefined ? sql`` : sql`and r.created_at < ${until}`}
      order by r.id desc
      limit ${limit + 1}
    ) page
    order by page.id desc`
  const results = rows.slice(0, limit).map(summarize)
  if (rows.length > limit) return { results, next: results.at(-1)?.id ?? null }
  if (isUnfinished) return { results, next: null }
  const [end] =
    rows.length === 0
      ? await sql<{ last_looked: string }[]>`select (${lastLooked}) as last_looked`
      : rows
  return { results, next: end?.last_looked ?? null }
}

function summarize(row: ResultRow): ResultSummary {
  const entries = Object.entries(toRecord(row)).filter(([name]) => name in summaryEntries)
  return Object.fromEntries(entries) as unknown as ResultSummary
}

/** How many of the newest submissions can be paged through. There is a limit because a page's offset is counted row by row. */
export const pagedMost = 10_000

/** Reads the ids of one page. @param page 1, 2, … */
export async function listPage(
  sql: Database,
  accountId: string,
  page: number,
  perPage: number,
): Promise<{
  /** Newest first. */
  readonly ids: readonly string[]
  /** How many submissions can be paged through. */
  readonly total: number
}> {
  const [{ total }] = await sql<[{ total: number }]>`
    select count(*)::integer as total
    from (select from runledger.submission r where r.account_id = ${accountId} limit ${pagedMost}) counted`
  const rows = await sql<{ id: string }[]>`
    select r.id from runledger.submission r where r.account_id = ${accountId}
    order by r.id desc offset ${(page - 1) * perPage} limit ${perPage}`
  return { ids: rows.map(({ id }) => id), total }
}
