// Lists an account's submissions by page number, as Judge0 does. /api/submissions uses cursors (list.ts).
import type { Database } from '#database'

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
