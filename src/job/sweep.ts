// The entry to the sweep, in web and worker processes. Twice a second it requeues what dead workers held. Every ten seconds
// it compares the queue with unfinished submissions, and checks a part of the log.
import { repeat } from '#back-off'
import type { Stoppable } from '#back-off'
import { isUnavailable } from '#database'
import type { Database } from '#database'
import { describeError } from '#error-text'
import { checkLedger } from '#event'
import type { Logger } from '#log'
import { reachFailpoint } from './failpoint.ts'

const sweepMilliseconds = 500
const reconcileEveryMilliseconds = 10_000
// Right after an outage every lease looks old, so workers get this much time to renew. The same holds after the start of this
// process, because an outage may just be over.
const settleMilliseconds = 5000
// It also counts as an outage when a trivial query took the first of these, or when none was answered for the
// second because a pass was held up.
const slowMilliseconds = 500
const absentMilliseconds = 3000
/** A pass that repairs so many may have left others, so the next one follows soon. */
const repairedAtOnce = 300
/**
 * Checks this many of the newest events and this many on the walk through the whole log, which costs the database some 0.1 s.
 */
const checkedAtOnce = { fewest: 10, most: 1000 }
// Short, because lost workers are found on the same connection.
const longestCheck = '2s'

/** A submission that was requeued or ended, or a worker that was lost. */
type Swept = { readonly worker_id: string } & (
  | { readonly submission_id: string; readonly requeued: boolean }
  | {
      readonly submission_id: null
      readonly host: string
      readonly pid: number
      /** Seconds since the worker's last heartbeat. */
      readonly silent_seconds: number
    }
)

export function startSweep(database: Database, log: Logger): Stoppable {
  let reconciledAt = performance.now()
  let unsettledAt = performance.now()
  /** When the trivial query was last answered, or a pass last failed. */
  let answeredAt = performance.now()
  /** The last failure; null after a sweep that succeeded. */
  let logged: string | null = null

  const lookAtLedger = createLedgerCheck(database, log)
  const sweep = async (): Promise<void> => {
    const startedAt = performance.now()
    await database`select 1`
    const now = performance.now()
    if (now - startedAt > slowMilliseconds || startedAt - answeredAt > absentMilliseconds) {
      unsettledAt = now
      log.warn({ seconds: (now - answeredAt) / 1000 }, 'sweep.delayed')
    }
    answeredAt = now
    if (now - unsettledAt < settleMilliseconds) return
    reachFailpoint('sweep.before_commit')
    // The other processes sweep, too.
    for (const row of await database<Swept[]>`
      select * from runledger.sweep_workers('400 milliseconds')`) {
      reachFailpoint('sweep.after_commit')
      const { worker_id: worker } = row
      if (row.submission_id === null) {
        const { host, pid, silent_seconds } = row
        log.warn({ worker, host, pid, silent_seconds }, 'worker.lost')
      } else {
        const { submission_id, requeued } = row
        log.warn({ worker_id: worker, submission_id, requeued }, 'execution.rescued')
      }
    }
    if (now - reconciledAt < reconcileEveryMilliseconds) return
    reconciledAt = now
    reachFailpoint('reconcile.before_commit')
    const [repaired] = await database<{ count: number }[]>`
      select runledger.reconcile_queue() as count`
    reachFailpoint('reconcile.after_commit')
    if (repaired?.count !== 0) log.warn({ count: repaired?.count }, 'queue.repaired')
    if ((repaired?.count ?? 0) >= repairedAtOnce) reconciledAt = Number.NEGATIVE_INFINITY
    await lookAtLedger()
  }
  const sweepAndNote = async (): Promise<void> => {
    await sweep()
    logged = null
  }
  return repeat(sweepAndNote, sweepMilliseconds, (error) => {
    unsettledAt = answeredAt = performance.now()
    // A wrong role or an old schema fails twice a second, so an equal failure is not logged again.
    const failure = describeError(error)
    if (isUnavailable(error) || failure !== logged) log.warn({ err: error }, 'sweep.failed')
    logged = failure
  })
}

/**
 * Checks a bounded part of the ledger, for metrics, in one process at a time. The check comes last and never rejects,
 * because nothing must wait for it.
 */
function createLedgerCheck(database: Database, log: Logger): () => Promise<void> {
  const { fewest, most } = checkedAtOnce
  let atOnce = most
  return async () => {
    try {
      const found = await database.begin(async (sql) => {
        await sql`select set_config('statement_timeout', ${longestCheck}, true)`
        return checkLedger(sql, atOnce)
      })
      atOnce = Math.min(most, atOnce * 2)
      if (found.length > 0) log.error({ streams: found }, 'ledger.finding')
    } catch (error) {
      // A slow database gets smaller parts, so that the walk goes on.
      atOnce = Math.max(fewest, Math.floor(atOnce / 2))
      log.warn({ err: error }, 'ledger.check_failed')
    }
  }
}
