// Looks for sessions that wait for a lock.
import type { Database } from '#database'

/**
 * Returns whether a session of this database waits for a lock of the table; without a table, for another transaction. Other
 * test files' databases are on the same server, and their tables have the same numbers.
 * @param sql no transaction, because in one PostgreSQL shows the same sessions until its end.
 */
export async function isAnyWaiting(sql: Database, table: string | null = null): Promise<boolean> {
  const [row] = await sql<[{ waits: boolean }]>`
    select exists (
      select from pg_locks l join pg_stat_activity a using (pid)
      where not l.granted and a.datname = current_database() and case
        when ${table}::text is null then l.locktype = 'transactionid'
        else l.relation = ${table}::text::regclass
      end
    ) as waits`
  return row.waits
}
