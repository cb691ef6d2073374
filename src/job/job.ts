// The worker's door to the queue: which tasks there are and how many of each run at once.
//
// Two runners, one a task: a slow webhook receiver must never hold an execution slot. Each has a pool of graphile-worker's
// own driver. The queue is a hint, the log decides (event/event.ts): a job that comes twice, late or
// for a submission that has ended does nothing.
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, Logger as QueueLogger } from 'graphile-worker'
import type { Runner, RunnerOptions, WorkerEvents } from 'graphile-worker'
import type { Pool } from 'pg'
import type { Logger } from '#log'
import { createDeliverTask } from './deliver.ts'
import type { DeliverDependencies } from './deliver.ts'
import { createExecuteTask } from './execute.ts'
import type { ExecuteDependencies } from './execute.ts'
import { createQueueHint } from './queue-hint.ts'
import { createQueuePool } from './queue-pool.ts'
import { untilAvailable } from './retry.ts'

export { announceWorker } from './lease.ts'
export { describeLimits } from './limits.ts'
export type { Lease } from './lease.ts'
export { startRetention } from './retention.ts'
export { createSuspension } from './suspension.ts'
export { startSweep } from './sweep.ts'
export type { Stoppable } from './sweep.ts'

const idleMilliseconds = 5000
const removalMilliseconds = 200

export interface QueueOptions {
  readonly url: string
  readonly execute: ExecuteDependencies
  /** Executions at once: the executor's slots. */
  readonly executions: number
  readonly deliver: DeliverDependencies
  /** Webhook attempts at once. */
  readonly deliveries: number
  readonly log: Logger
}

export interface Queue {
  /** The ids under which this process locks jobs. */
  readonly poolIds: readonly string[]
  /** Settles when the queue has stopped, by `stop` or because it cannot go on. */
  readonly ended: Promise<void>
  /** Takes no further job and waits for those under way. */
  stop(): Promise<void>
}

/** Starts taking jobs. */
export async function startQueue(options: QueueOptions): Promise<Queue> {
  const { url, log } = options
  const poolIds: string[] = []
  const createEvents = (): WorkerEvents => {
    const events: WorkerEvents = new EventEmitter()
    events.on('pool:create', ({ workerPool }) => poolIds.push(workerPool.id))
    return events
  }
  const events = { execute: createEvents(), deliver: createEvents() }
  // One listens for both, as a notification wakes every connection that listens. What does not say that it is an execution
  // may be a delivery.
  let nudgeDeliver = (): void => {}
  events.deliver.on('pool:create', ({ workerPool }) => {
    nudgeDeliver = () => workerPool.nudge(1)
  })
  events.deliver.on('pool:gracefulShutdown', () => {
    nudgeDeliver = () => {}
  })
  const hint = createQueueHint()
  events.execute.on('pool:listen:success', () => hint.noteAnnounced())
  events.execute.on('pool:listen:notification', ({ message }) => {
    const { task, count } = readAnnouncement(message.payload)
    if (task !== 'execute') nudgeDeliver()
    hint.noteAnnounced(count)
  })
  const execute = createExecuteTask(options.execute)
  // Of each one connection is kept for listening; the others hand out and complete jobs, which is milliseconds a job.
  const pools = {
    execute: createQueuePool(url, 3, log, {
      takeJob: async () =>
        execute.isSuspended || !hint.isWorthAsking ? null : hint.learnFrom(() => execute.take()),
    }),
    deliver: createQueuePool(url, 3, log, { listens: false }),
  }

  const shared = {
    noHandleSignals: true,
    logger: new QueueLogger(({ jobId }) => (level, message) => {
      if (level === 'error') log.error({ job: jobId, message }, 'queue.error')
      else log.debug({ job: jobId, message }, 'queue.message')
    }),
  }
  // A database that is away when the process starts is no reason to end it: platforms wait longer and longer to restart.
  const start = async (specific: Partial<RunnerOptions>): Promise<Runner> =>
    untilAvailable(() => run({ ...shared, ...specific }), log)
  const runners: Runner[] = [
    await start({
      pgPool: pools.execute.pool,
      concurrency: options.executions,
      taskList: { execute: (payload) => execute.run(payload) },
      events: events.execute,
      // Mostly the row has gone when its job was taken: one statement for all that were done in so long finds that out.
      preset: { worker: { completeJobBatchDelay: removalMilliseconds } },
    }),
    await start({
      pgPool: pools.deliver.pool,
      concurrency: options.deliveries,
      taskList: { deliver: createDeliverTask(options.deliver) },
      events: events.deliver,
    }),
  ]
  for (const { beginRetrying } of Object.values(pools)) beginRetrying()
  // Whichever ends first ends the queue: half a worker must not look like a whole one.
  const ended = Promise.race(runners.map((runner) => runner.promise))
  ended.catch(() => {})
  let stopped: Promise<void> | undefined

  return {
    poolIds,
    ended,
    stop() {
      stopped ??= stop()
      return stopped
    },
  }

  async function stop(): Promise<void> {
    await Promise.allSettled(runners.map((runner) => runner.stop()))
    await execute.settled()
    await Promise.all(Object.values(pools).map(({ pool }) => endIdle(pool)))
  }
}

/** Ours name the task (job.wake_workers), graphile-worker's own do not. */
function readAnnouncement(payload = ''): { task?: unknown; count?: number } {
  try {
    const { task, count } = JSON.parse(payload) as { task?: unknown; count?: unknown }
    return { task, ...(Number.isInteger(count) && Number(count) > 0 && { count: Number(count) }) }
  } catch {
    return {} // anybody may notify anything
  }
}

// graphile-worker does not wait for its last jobs to be marked complete, and a pool that has ended fails them, which
// nobody catches.
async function endIdle(pool: Pool): Promise<void> {
  const endsAt = performance.now() + idleMilliseconds
  do {
    await sleep(10)
  } while (
    (pool.waitingCount > 0 || pool.idleCount < pool.totalCount) &&
    performance.now() < endsAt
  )
  await pool.end()
}
