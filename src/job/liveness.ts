// Who is alive: a worker holds a session lock, which a killed process frees at once, and renews a lease, which a frozen
// one does not. Every web and worker process looks each second for workers that have neither, and gives back what they
// held; every ten seconds it compares the queue with what is unfinished.
import { hostname } from 'node:os'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase, json } from '#database'
import type { Database } from '#database'
import type { Logger } from '#log'
import { maxLosses } from './losses.ts'

const sweepMilliseconds = 1000
const reconcileEverySweeps = 10
// Right after an outage every lease looks old: the workers get time to renew before anybody judges them.
const settleMilliseconds = 5000

/** The reason with which runs are ended when the worker cannot say any more that it lives. */
export class LeaseExpiredError extends Error {
  override readonly name = 'LeaseExpiredError'
}

/** A worker's claim to be alive. */
export interface Lease {
  /** Who this worker is in the log. One that was given up meanwhile goes on under a new id. */
  readonly workerId: string
  /** Fires when runs begun under it must end, because others may have taken them over; then there is a new one. */
  readonly signal: AbortSignal
  /** Says that the worker ends in an orderly way. */
  stop(): Promise<void>
}

/** A worker as it announces itself. */
export interface Announcement {
  readonly url: string
  readonly slots: number
  /** What it runs: versions, command lines and limits of each language. */
  readonly languages: object
  /** Not renewed for so long, the worker is given up by others; after two thirds of it, it stops by itself. */
  readonly leaseSeconds: number
  /** The ids under which graphile-worker locks this worker's jobs. */
  readonly queuePoolIds: () => readonly string[]
  readonly log: Logger
}

export interface Stoppable {
  stop(): Promise<void>
}

/** Registers a worker and keeps its lock and lease. Resolves when it is registered. */
export async function announceWorker(announcement: Announcement): Promise<Lease> {
  const { url, slots, languages, leaseSeconds, queuePoolIds, log } = announcement
  let workerId = uuidv7()
  let fence = new AbortController()
  let registered = false
  let renewedAt = performance.now()
  // One connection of its own: the lock lives as long as its session.
  const session = createDatabase({
    url,
    connections: 1,
    name: 'runledger lease',
    statementSeconds: leaseSeconds / 3,
    onClose: () => {
      registered = false
    },
  })

  const endRuns = (reason: string): void => {
    log.warn({ worker: workerId, reason }, 'worker.fenced')
    fence.abort(new LeaseExpiredError(reason))
    fence = new AbortController()
  }
  const renew = async (): Promise<void> => {
    if (!registered) {
      await session`
        select runledger.register_worker(
          ${workerId}, ${hostname()}, ${process.pid}, ${slots}, ${json(session, languages)}, ${leaseSeconds}
        )`
      registered = true
    }
    const [row] = await session`
      select runledger.renew_lease(${workerId}, ${[...queuePoolIds()]}) as renewed`
    renewedAt = performance.now()
    if (row?.['renewed'] === true) return
    endRuns('given up by the others')
    workerId = uuidv7()
    registered = false
    await renew()
  }
  await renew()

  const renewing = repeat(renew, (leaseSeconds * 1000) / 15, (error) =>
    log.warn({ err: error }, 'worker.lease_not_renewed'),
  )
  const watching = setInterval(
    () => {
      if (performance.now() - renewedAt < (leaseSeconds * 1000 * 2) / 3) return
      endRuns('the lease could not be renewed')
      renewedAt = performance.now()
    },
    (leaseSeconds * 1000) / 15,
  )
  return {
    get workerId() {
      return workerId
    },
    get signal() {
      return fence.signal
    },
    async stop() {
      clearInterval(watching)
      await renewing.stop()
      await session`select runledger.stop_worker(${workerId})`.catch(() => {})
      await session.end({ timeout: 2 })
    },
  }
}

/** Starts the sweep and the reconciler of one process. */
export function startSweep(database: Database, log: Logger): Stoppable {
  let sweeps = 0
  let reachableSince = Number.NEGATIVE_INFINITY
  const sweep = async (): Promise<void> => {
    // Cheap, and tells an outage from a quiet second.
    await database`select 1`
    if (performance.now() - reachableSince < settleMilliseconds) return
    for (const row of await database`select * from runledger.sweep_workers(${maxLosses})`) {
      log.warn({ ...row }, 'execution.rescued')
    }
    sweeps += 1
    if (sweeps % reconcileEverySweeps === 0) {
      const [repaired] = await database`select runledger.reconcile_queue() as count`
      if (repaired?.['count'] !== 0) log.warn({ count: repaired?.['count'] }, 'queue.repaired')
    }
  }
  return repeat(sweep, sweepMilliseconds, (error) => {
    reachableSince = performance.now()
    log.warn({ err: error }, 'sweep.failed')
  })
}

// One call at a time: a slow one delays the next instead of piling up.
function repeat(
  work: () => Promise<void>,
  milliseconds: number,
  onError: (error: unknown) => void,
): Stoppable {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let current = Promise.resolve()
  const schedule = (): void => {
    timer = setTimeout(() => {
      current = work()
        .catch(onError)
        .finally(() => {
          if (!stopped) schedule()
        })
    }, milliseconds)
  }
  schedule()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await current
    },
  }
}
