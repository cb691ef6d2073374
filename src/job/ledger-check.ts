// The reconciler's look at the ledger, for metrics: a bounded part of it, by one process at a time
// (runledger.check_ledger). It comes last and fails alone, as nothing must wait for it.
import type { Database } from '#database'
import { checkLedger } from '#event'
import type { Logger } from '#log'

/** So many of the newest events, and so many of the walk through the whole log: some 0.1 s of the database's. */
const checkedAtOnce = 1000
const fewestAtOnce = 10
// Lost workers are found on the same connection.
const longest = '2s'

/** Creates one process's part in it; the result looks once, and never rejects. */
export function createLedgerCheck(database: Database, log: Logger): () => Promise<void> {
  let atOnce = checkedAtOnce
  return async () => {
    try {
      const found = await database.begin(async (sql) => {
        await sql`select set_config('statement_timeout', ${longest}, true)`
        return checkLedger(sql, atOnce)
      })
      atOnce = Math.min(checkedAtOnce, atOnce * 2)
      if (found.length > 0) log.error({ streams: found }, 'ledger.finding')
    } catch (error) {
      // A database that is slow today must not keep the walk from going on.
      atOnce = Math.max(fewestAtOnce, Math.floor(atOnce / 2))
      log.warn({ err: error }, 'ledger.check_failed')
    }
  }
}
