// Counts the rows of a table that some work reads, as a measure of its cost that does not depend on the machine's speed.
import type { Database, Queryable } from '#database'

/**
 * Returns how many rows of the table `work` has read, by scans and by indexes. PostgreSQL's view also counts reads of earlier
 * transactions that the session has not reported yet, so this reads it before and after the work in one transaction.
 */
export async function countRowsRead(
  session: Database,
  table: string,
  work: (transaction: Queryable) => PromiseLike<unknown>,
): Promise<number> {
  return session.begin(async (transaction) => {
    const look = async (): Promise<number> => {
      const [{ read }] = await transaction<[{ read: number }]>`
        select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables
        where relid = ${table}::regclass`
      return read
    }
    const before = await look()
    await work(transaction)
    return (await look()) - before
  })
}
