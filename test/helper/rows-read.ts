// Counts the rows of a table that some work reads: what it costs, whatever the machine's speed.
import type { Database, Queryable } from '#database'

/**
 * Rows of the table that `work` read, by whatever way. PostgreSQL counts for a session what it has not sent to the collector
 * yet, that of transactions before too: so both looks stand in one.
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
