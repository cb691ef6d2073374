// An account's submissions by numbers of pages, as Judge0 lists them; /api/submissions goes by cursors.
import type { Database } from '#database'

/** So many of the newest can be paged through, as pages before a page are counted through. */
export const pagedMost = 10_000

/** @param page 1, 2, … */
export async function listPage(
  sql: Database,
  accountId: string,
  page: number,
  perPage: number,
): Promise<{
  /** Newest first. */
  readonly ids: readonly string[]
  /** Of those that can be paged through. */
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
