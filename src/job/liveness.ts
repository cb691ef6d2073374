// Who is alive: a worker holds a session lock, which a killed process frees at once, and renews a lease, which a frozen
// one does not. Every web and worker process looks each second for workers that have neither, and gives back what they
// held; every ten seconds it compares the queue with what is unfinished.
import { hostname } from 'node:os'
import { createDatabase, json } from '#database'
import type { Database } from '#database'
import type { Logger } from '#log'
import { maxLosses } from './losses.ts'

const renewMilliseconds = 2000
const sweepMilliseconds = 1000
const reconcileEverySweeps = 10

/** A worker as it announces itself. */
export interface Announcement {
  readonly url: string
  readonly workerId: string
  readonly slots: number
  /** What it runs: versions, command lines and limits of each language. */
  readonly languages: object
  /** The ids under which graphile-worker locks this worker's jobs. */
  readonly queuePoolIds: () => readonly string[]
  readonly log: Logger
  /** Called once when others have taken this worker for dead: its runs are theirs now. */
  readonly onLost: () => void
}

export interface Stoppable {
  stop(): Promise<void>
}

/** Registers a worker and keeps its lock and lease. Resolves when it is registered. */
export async function announceWorker(announcement: Announcement): Promise<Stoppable> {
  const { url, workerId, slots, languages, queuePoolIds, log, onLost } = announcement
  let registered = false
  // One connection of its own: the lock lives as long as its session.
  const session = createDatabase({
    url,
    connections: 1,
    name: 'runledger lease',
    onClose: () => {
      registered = false
    },
  })

  const register = async (): Promise<void> => {
    await session`
      select runledger.register_worker(
        ${workerId}, ${hostname()}, ${process.pid}, ${slots}, ${json(session, languages)}
      )`
    registered = true
  }
  const renew = async (): Promise<void> => {
    if (!registered) await register()
    const [row] =
      await session`select runledger.renew_lease(${workerId}, ${[...queuePoolIds()]}) as renewed`
    if (row?.['renewed'] !== true) onLost()
  }
  await register()
  const timer = repeat(renew, renewMilliseconds, (error) =>
    log.warn({ err: error }, 'worker.lease_not_renewed'),
  )
  return {
    async stop() {
      await timer.stop()
      await session`select runledger.stop_worker(${workerId})`.catch(() => {})
      await session.end({ timeout: 2 })
    },
  }
}

/** Starts the sweep and the reconciler of one process. */
export function startSweep(database: Database, log: Logger): Stoppable {
  let sweeps = 0
  const sweep = async (): Promise<void> => {
    const rows = await database`select * from runledger.sweep_workers(${maxLosses})`
    for (const row of rows) log.warn({ ...row }, 'execution.rescued')
    sweeps += 1
    if (sweeps % reconcileEverySweeps === 0) {
      const [repaired] = await database`select runledger.reconcile_queue() as count`
      if (repaired?.['count'] !== 0) log.warn({ count: repaired?.['count'] }, 'queue.repaired')
    }
  }
  return repeat(sweep, sweepMilliseconds, (error) => log.warn({ err: error }, 'sweep.failed'))
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
