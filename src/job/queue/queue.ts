// The door to the queue, for the worker: how a job is taken. Of a submission, in the order in which it happens:
//
//   waiting     Its key has no place free: it stands in runledger.pending and has no job (runledger.admit_waiting).
//   enqueued    It has one: a row of graphile-worker's, committed with the fact that caused it. Task and payload name its
//               language, its key is the submission's id, so at most one is queued (job.enqueue_first, _execute).
//   announced   After the commit idle workers are told how many came (job.wake_workers). A worker that knows of none does
//               not ask (hint.ts); should nobody be told, it looks by itself within three seconds.
//   taken       A worker with a free slot removes the row and appends execution.started, in one statement
//               (runledger.take_execution). It takes the first that is due in a language that it runs, from where it
//               knows the queue to begin (front.ts). From here on the log says who has it, and the version of that event,
//               with the attempt's id, is the token without which nobody ends it.
//   running     Under the worker's lease (#lease). No transaction is open, and nothing is locked.
//   concluded   execution.completed; with it the key's next submission is enqueued, and the delivery, if there is one.
//   given back  execution.interrupted, by the worker itself: it is enqueued again, before all others; or
//               execution.abandoned after too many losses (runledger.interrupt_execution).
//   lost        Its worker died or went silent: the sweep gives it back so within seconds (runledger.sweep_workers). What has
//               no job and is not running, whatever became of the row, the reconciler enqueues again
//               (runledger.reconcile_queue).
//
// A job that take_execution cannot begin, whatever is wrong with it, graphile-worker's own statement hands out instead:
// the row stays, locked, while the task looks at it and begins the attempt by a second statement (runledger.start_execution).
// Either way a job stands under the task of its language (job.name_task), and comes only to workers that run it; one that
// stands under another is made anew by the log.
//
// Of a delivery: enqueued for the time when it is due (job.enqueue_deliver), taken and kept locked by graphile-worker,
// concluded by the event of its attempt, which enqueues the next one or ends the stream; given back unattempted when its
// receiver is busy (runledger.postpone_delivery); lost and reconciled as above.
//
// The queue is a hint, the log decides (event/event.ts): a job that comes twice, late or for what has ended does nothing.
// What of this leans on graphile-worker's inside stands in graphile-inside.ts. A function runledger.a_b or job.a_b stands
// in sql/functions, in the file a-b.sql. worker.ts makes what the tasks work with, job.ts hands it to this room.
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, Logger as QueueLogger } from 'graphile-worker'
import type { Runner, RunnerOptions, WorkerEvents } from 'graphile-worker'
import type { Logger } from '#log'
import { untilAvailable } from '#retry'
import { endIdle, readAnnouncement } from './graphile-inside.ts'
import type { JobRow } from './graphile-inside.ts'
import { createQueueHint } from './hint.ts'
import type { QueueHint } from './hint.ts'
import { createQueuePool } from './pool.ts'

export { createQueueFront } from './front.ts'
export type { JobRow } from './graphile-inside.ts'

const removalMilliseconds = 200
// How often a worker that drains looks whether anything is left.
const idleMilliseconds = 100

/** The task 'execute', which takes its own jobs. */
export interface TakingTask {
  /** Of these it takes jobs. */
  readonly languages: readonly string[]
  /** Takes the next job of the queue and begins its attempt; the row is then to be passed to `run`. Null: none, for now. */
  take(): Promise<JobRow | null>
  /** True while it takes none, whatever waits. */
  readonly isSuspended: boolean
  /** Resolves as soon as the next job may be taken. */
  run(payload: unknown): Promise<void>
  /** Resolves when everything is in the log. */
  settled(): Promise<void>
}

export interface QueueOptions {
  readonly url: string
  readonly execute: TakingTask
  /** Executions at once. */
  readonly executions: number
  readonly deliver: (payload: unknown) => Promise<void>
  /** Webhook attempts at once. */
  readonly deliveries: number
  /** True while neither is taken, whatever waits. */
  readonly isPaused?: () => boolean
  readonly log: Logger
}

export interface Queue {
  /** The ids under which this process locks jobs. */
  readonly poolIds: readonly string[]
  /** Settles when the queue has stopped, by `stop` or because it cannot go on. */
  readonly ended: Promise<void>
  /** Resolves when nothing that was taken is left: no run, no attempt to deliver, no result on its way. */
  idle(): Promise<void>
  /** Takes no further job and waits for those under way. */
  stop(): Promise<void>
}

/** Starts taking jobs: one runner for executions, one for deliveries, as a slow receiver must never hold a slot. */
export async function startRunners(options: QueueOptions): Promise<Queue> {
  const { url, log, execute } = options
  const hint = createQueueHint()
  const { events, poolIds } = createEvents(hint)
  // graphile-worker hands out and completes jobs by these, which is milliseconds a job, and listens on one of them. Its
  // statement that hands out an execution is answered by ours (pool.ts).
  const pools = {
    execute: createQueuePool(url, 3, log, {
      takeJob: async () =>
        execute.isSuspended || !hint.isWorthAsking ? null : hint.learnFrom(() => execute.take()),
    }),
    deliver: createQueuePool(url, 3, log, {
      listens: false,
      isClosed: () => options.isPaused?.() === true,
    }),
  }
  let underWay = 0
  const counted =
    (work: (payload: unknown) => Promise<void>) =>
    async (payload: unknown): Promise<void> => {
      underWay += 1
      await work(payload).finally(() => (underWay -= 1))
    }
  const runExecution = counted((payload) => execute.run(payload))
  const runners = [
    await startRunner(log, {
      pgPool: pools.execute.pool,
      concurrency: options.executions,
      taskList: Object.fromEntries(
        listTasks(execute.languages).map((task) => [task, runExecution]),
      ),
      events: events.execute,
      // runledger.take_execution has mostly removed the row: graphile-worker's own removal is one statement for so long.
      preset: { worker: { completeJobBatchDelay: removalMilliseconds } },
    }),
    await startRunner(log, {
      pgPool: pools.deliver.pool,
      concurrency: options.deliveries,
      taskList: { deliver: counted(options.deliver) },
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
    async idle() {
      while (underWay > 0) await sleep(idleMilliseconds)
      await execute.settled()
    },
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

/** The tasks of a worker that runs these languages (job.name_task): by them it is handed jobs, by us and by graphile-worker. */
function listTasks(languages: readonly string[]): string[] {
  // Plain 'execute' has what earlier releases enqueued, and is the task that take_execution answers for every language.
  return ['execute', ...languages.map((language) => `execute:${language}`)]
}

/**
 * What the runners tell of themselves. One listens for both, as a notification wakes every connection that listens; what
 * does not say that it is an execution may be a delivery.
 */
function createEvents(hint: QueueHint): {
  events: { execute: WorkerEvents; deliver: WorkerEvents }
  poolIds: readonly string[]
} {
  const poolIds: string[] = []
  const create = (): WorkerEvents => {
    const events: WorkerEvents = new EventEmitter()
    events.on('pool:create', ({ workerPool }) => poolIds.push(workerPool.id))
    return events
  }
  const events = { execute: create(), deliver: create() }
  let nudgeDeliver = (): void => {}
  events.deliver.on('pool:create', ({ workerPool }) => {
    nudgeDeliver = () => workerPool.nudge(1)
  })
  events.deliver.on('pool:gracefulShutdown', () => {
    nudgeDeliver = () => {}
  })
  events.execute.on('pool:listen:success', () => hint.noteAnnounced())
  events.execute.on('pool:listen:notification', ({ message }) => {
    const { task, count } = readAnnouncement(message.payload)
    if (task !== 'execute') nudgeDeliver()
    hint.noteAnnounced(count)
  })
  return { events, poolIds }
}

/** A database that is away when the process starts is no reason to end it: platforms wait longer and longer to restart. */
async function startRunner(log: Logger, options: RunnerOptions): Promise<Runner> {
  const logger = new QueueLogger(({ jobId }) => (level, message) => {
    if (level === 'error') log.error({ job: jobId, message }, 'queue.error')
    else log.debug({ job: jobId, message }, 'queue.message')
  })
  return untilAvailable(() => run({ noHandleSignals: true, logger, ...options }), log)
}
