// The worker's door to the queue: which tasks there are and how many of each run at once.
//
// Two runners, one a task: a slow webhook receiver must never hold an execution slot. Both use one pool of
// graphile-worker's own driver. The queue is a hint, the log decides (event/event.ts): a job that comes twice, late or
// for a submission that has ended does nothing.
import { EventEmitter } from 'node:events'
import { run, Logger as QueueLogger } from 'graphile-worker'
import type { Runner, WorkerEvents } from 'graphile-worker'
import type { Logger } from '#log'
import { createDeliverTask } from './deliver.ts'
import type { DeliverDependencies } from './deliver.ts'
import { createExecuteTask } from './execute.ts'
import type { ExecuteDependencies } from './execute.ts'
import { createQueuePool } from './queue-pool.ts'

export { announceWorker, startSweep } from './liveness.ts'
export type { Lease, Stoppable } from './liveness.ts'

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
  const events: WorkerEvents = new EventEmitter()
  events.on('pool:create', ({ workerPool }) => poolIds.push(workerPool.id))
  // Two listen, the others take and complete jobs, which is milliseconds a job.
  const { pool, beginRetrying } = createQueuePool(url, 6, log)

  const shared = {
    pgPool: pool,
    noHandleSignals: true,
    events,
    logger: new QueueLogger(({ jobId }) => (level, message) => {
      if (level === 'error') log.error({ job: jobId, message }, 'queue.error')
      else log.debug({ job: jobId, message }, 'queue.message')
    }),
  }
  const runners: Runner[] = [
    await run({
      ...shared,
      concurrency: options.executions,
      taskList: { execute: createExecuteTask(options.execute) },
    }),
    await run({
      ...shared,
      concurrency: options.deliveries,
      taskList: { deliver: createDeliverTask(options.deliver) },
    }),
  ]
  beginRetrying()
  // Whichever ends first ends the queue: half a worker must not look like a whole one.
  const ended = Promise.race(runners.map((runner) => runner.promise))
  ended.catch(() => {})
  let stopped: Promise<void> | undefined

  return {
    poolIds,
    ended,
    stop() {
      stopped ??= Promise.allSettled(runners.map((runner) => runner.stop())).then(() => pool.end())
      return stopped
    },
  }
}
