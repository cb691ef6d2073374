// The entry to the sweep, in web and worker processes. Twice a second it requeues what dead workers held; every ten
// seconds it compares the queue with unfinished submissions, and parts of the log with what it promises.
import { isUnavailable } from '#database'
import type { Database } from '#database'
import { describeError } from '#error-text'
import { checkLedger } from '#event'
import { firstId } from '#id'
import type { Logger } from '#log'
import { reachFailpoint } from './failpoint.ts'
import { repeat } from './repeat.ts'
import type { Stoppable } from './repeat.ts'

const sweepMilliseconds = 500
const reconcileEveryMilliseconds = 10_000
// Right after an outage every lease looks old: workers get time to renew.
const settleMilliseconds = 5000
// A free question took so long, or was not asked for so long, as a pass was held up: an outage too.
const slowMilliseconds = 500
const absentMilliseconds = 3000
// Some twenty milliseconds of index entries.
const restoredAtOnce = 20_000
/** So many of the newest events are checked, and so many of the walk through the whole log: some 0.1 s of the database's. */
const checkedAtOnce = { fewest: 10, most: 1000 }
// Lost workers are found on the same connection.
const longestCheck = '2s'

/** A submission that was requeued, or, without one, a worker that was lost. */
interface Swept {
  readonly worker_id: string
  readonly submission_id: string | null
  readonly requeued: boolean | null
  readonly host: string
  readonly pid: number
  /** Since its last heartbeat. */
  readonly silent_seconds: number
}

export function startSweep(database: Database, log: Logger): Stoppable {
  let reconciledAt = performance.now()
  let unsettledAt = Number.NEGATIVE_INFINITY
  /** The last answer to the free question, or the last failure. */
  let answeredAt = performance.now()
  /** The last failure, until a sweep succeeds. */
  let logged: string | null = null

  // Goes through the whole log in parts, again and again.
  let restoredUpTo = firstId
  const restoreNext = async (): Promise<void> => {
    const [row] = await database<{ last: string | null; restored: number }[]>`
      select last, restored from runledger.restore_next_pending(${restoredUpTo}, ${restoredAtOnce})`
    restoredUpTo = row?.last ?? firstId
    if (row?.restored !== 0) log.warn({ count: row?.restored }, 'pending.restored')
  }

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
    for (const row of await database<Swept[]>`select * from runledger.sweep_workers()`) {
      reachFailpoint('sweep.after_commit')
      const { worker_id: worker, submission_id, requeued, ...process } = row
      if (submission_id === null) log.warn({ worker, ...process }, 'worker.lost')
      else log.warn({ worker_id: worker, submission_id, requeued }, 'execution.rescued')
    }
    if (now - reconciledAt < reconcileEveryMilliseconds) return
    reconciledAt = now
    reachFailpoint('reconcile.before_commit')
    const [repaired] = await database<{ count: number }[]>`
      select runledger.reconcile_queue() as count`
    reachFailpoint('reconcile.after_commit')
    if (repaired?.count !== 0) log.warn({ count: repaired?.count }, 'queue.repaired')
    await restoreNext()
    await lookAtLedger()
  }
  const sweepAndNote = async (): Promise<void> => {
    await sweep()
    logged = null
  }
  return repeat(sweepAndNote, sweepMilliseconds, (error) => {
    unsettledAt = answeredAt = performance.now()
    // What a wrong role or an old schema refuses, it refuses twice a second.
    const failure = describeError(error)
    if (isUnavailable(error) || failure !== logged) log.warn({ err: error }, 'sweep.failed')
    logged = failure
  })
}

/** For metrics: a bounded part of the ledger, by one process at a time. It comes last and never rejects: nothing must wait for it. */
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
      // A database that is slow today must not keep the walk from going on.
      atOnce = Math.max(fewest, Math.floor(atOnce / 2))
      log.warn({ err: error }, 'ledger.check_failed')
    }
  }
}
