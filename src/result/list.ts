// An account's results, page by page. An account may have millions, and what a filter wants may be rare or not there: a page
// costs the same all the same.
import type { Database } from '#database'
import type { Verdict } from '#event'
import { floorId } from '#id'
import { isFinal, toRecord } from './record.ts'
import type { ResultRow } from './record.ts'
import type { ResultStatus, ResultSummary } from './schema.ts'

export interface ResultFilter {
  readonly status?: ResultStatus | undefined
  readonly verdict?: Verdict | undefined
  readonly language?: string | undefined
  readonly tag?: string | undefined
  /** Received then or later. */
  readonly since?: Date | undefined
  /** Received before. */
  readonly until?: Date | undefined
  /** Only ids below this one. */
  readonly before?: string | undefined
  readonly limit: number
}

interface ResultPage {
  /** Newest first, at most `limit`. */
  readonly results: readonly ResultSummary[]
  /** The next page's `before`; null: this is the last one. A page with a next one may have fewer than `limit`, or none. */
  readonly next: string | null
}

/** Rows that one page looks at: some 50 ms. */
const mostLooked = 20_000

// An id is made by a web process, its time by the database: so far apart may their clocks be.
const clockMilliseconds = 300_000

/** @param most rows that are looked at. */
export async function listResults(
  sql: Database,
  accountId: string,
  filter: ResultFilter,
  most = mostLooked,
): Promise<ResultPage> {
  const { status, verdict, language, tag, since, until, before, limit } = filter
  const isUnfinished = status !== undefined && !isFinal({ status })
  // There is an index for what an account has under a tag.
  const mine = sql`
    r.account_id = ${accountId}
    ${tag === undefined ? sql`` : sql`and r.tag = ${tag}`}
    ${since === undefined ? sql`` : sql`and r.id >= ${floorId(Math.max(0, since.getTime() - clockMilliseconds))}`}
    ${until === undefined ? sql`` : sql`and r.id < ${floorId(Math.max(0, until.getTime() + clockMilliseconds))}`}
    ${before === undefined ? sql`` : sql`and r.id < ${before}`}`
  const looked = isUnfinished
    ? sql`select * from runledger.unfinished r where ${mine} offset 0`
    : sql`select * from runledger.submission r where ${mine} order by r.id desc limit ${most}`
  const lastLooked = sql`
    select r.id from runledger.submission r where ${mine} order by r.id desc offset ${most - 1} limit 1`
  // One more shows whether there is a next page. Of a page that is not full the end is of the same snapshot, or what came
  // meanwhile would have rows stand on the next page too.
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
  const {
    stdout: _stdout,
    stderr: _stderr,
    compile_output: _messages,
    difference: _difference,
    tests: _tests,
    files: _files,
    groups: _groups,
    ...summary
  } = toRecord(row)
  return summary
}
