// The door to the queue, for the worker. The states of a submission, in order:
//
//   waiting     Its key is at its limit: it stands in runledger.pending without a job (runledger.admit_waiting).
//   enqueued    It is a row of graphile-worker's, committed with its cause. Task and payload name its language; its key
//               is the submission's id, so at most one is queued (job.enqueue_first, _execute).
//   announced   After the commit idle workers hear how many came (job.wake_workers, hint.ts).
//   taken       A worker with a free slot removes the row and appends execution.started in one statement
//               (runledger.take_several): the first due job in its languages, from the queue's front on (front.ts). Slots
//               that ask at once share a statement (runledger.take_several).
//               Accounts share the slots, so run_at is a place in a virtual time, no clock's (job.next_turn; sql/README.md,
//               "The order of the queue"). A job whose account has used more since is put back (job.defer_turn).
//   running     Under the worker's lease (#lease). No transaction is open, and nothing is locked.
//   concluded   execution.completed; with it the key's next submission and the delivery are enqueued.
//   cancelled   By its caller (runledger.cancel_submission). Without an attempt it ends at once, and its job is removed. An
//               attempt's worker hears of it on the connection that hears of jobs, looks when it renews its lease
//               (#execute, cancel.ts), and concludes with submission.cancelled what the program had done.
//   given back  execution.interrupted: it is enqueued again, before all others; or execution.abandoned after too many
//               losses (runledger.interrupt_execution).
//   lost        Its worker died or went silent: the sweep gives it back within seconds (runledger.sweep_workers). The
//               reconciler enqueues what has no job and is not running (runledger.reconcile_queue).
//
// A job that take_several cannot begin is handed out by graphile-worker's own statement: the row stays, locked, while
// a second statement begins the attempt (runledger.start_execution). A job stands under its language's task
// (job.name_task), so only workers that run it get it; a misplaced one is made anew by the log.
//
// A delivery is enqueued for when it is due (job.enqueue_deliver), locked by graphile-worker while attempted, and
// concluded by the attempt's event, which enqueues the next or ends the stream. With a busy receiver it is given back
// (runledger.postpone_delivery); lost and reconciled as above.
//
// The log decides, not the queue (event/event.ts): a job that comes twice, late or after the end does nothing.
// Functions runledger.a_b and job.a_b stand in sql/functions, in a-b.sql.
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, Logger as QueueLogger } from 'graphile-worker'
import type { Runner, RunnerOptions, WorkerEvents } from 'graphile-worker'
import type { Logger } from '#log'
import { untilAvailable } from '#retry'
import { endIdle, listenAlso, readAnnouncement, throwWithCode } from './graphile-inside.ts'
import type { JobRow } from './graphile-inside.ts'
import { createQueueHint } from './hint.ts'
import type { QueueHint } from './hint.ts'
import { createQueuePool } from './pool.ts'

export { createQueueFront } from './front.ts'

const removalMilliseconds = 200
/** runledger.cancel_submission notifies here, with the submission's id. */
const cancelChannel = 'runledger_cancel'
/** So does runledger.watch_submissions. */
const watchChannel = 'runledger_watch'
// How often a draining worker looks whether anything is left.
const idleMilliseconds = 100

/** The task 'execute', which takes its own jobs. */
export interface TakingTask {
  readonly languages: readonly string[]
  /** Takes the next job and begins its attempt; graphile-worker passes the row's payload to `run`. Null: none now. */
  take(): Promise<JobRow | null>
  /** True while it takes none. */
  readonly isSuspended: boolean
  /** Resolves as soon as the next program may run, perhaps before this one's end is in the log. */
  run(payload: unknown): Promise<void>
  /** The end of this submission was asked for. */
  noteCancel(submission: string): void
  /** This submission is watched. */
  noteWatch(submission: string): void
  /** Words of either kind may have been missed: it looks. */
  lookAgain(): void
  /** Called by the clock: looks which runs are cancelled, now and then which are watched. */
  tick(): void
  /** Resolves when everything is in the log. */
  settled(): Promise<void>
}

export interface QueueOptions {
  readonly url: string
  readonly execute: TakingTask
  readonly executions: number
  readonly deliver: (payload: unknown) => Promise<void>
  readonly deliveries: number
  /** True: nothing is taken. */
  readonly isPaused?: () => boolean
  readonly log: Logger
}

export interface Queue {
  /** The ids under which this process locks jobs. */
  readonly poolIds: readonly string[]
  /** Settles when the queue has stopped, by `stop` or a failure. */
  readonly ended: Promise<void>
  /** To be called by the clock: looks which runs are cancelled or watched, as notifications may be lost. */
  tick(): void
  /** Resolves when nothing taken is left. */
  idle(): Promise<void>
  /** Waits for those under way. */
  stop(): Promise<void>
}

/** One runner for executions and one for deliveries: a slow receiver must never hold a slot. */
export async function startRunners(options: QueueOptions): Promise<Queue> {
  const { url, log, execute } = options
  const hint = createQueueHint()
  const { events, poolIds } = createEvents(hint, execute)
  // graphile-worker needs these for milliseconds a job, and listens on one.
  const pools = {
    execute: createQueuePool(url, 3, log, {
      takeJob: async () =>
        execute.isSuspended || !hint.isWorthAsking ? null : hint.poll(() => execute.take()),
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
      // runledger.take_several has mostly removed the row; so many removals share a statement.
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
  // With one of them the queue has ended: half a worker must not look like a whole one.
  const ended = Promise.race(runners.map((runner) => runner.promise))
  ended.catch(() => {})
  let stopped: Promise<void> | undefined

  return {
    poolIds,
    ended,
    tick: () => execute.tick(),
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

/** The tasks under which this worker is handed jobs (job.name_task). */
function listTasks(languages: readonly string[]): string[] {
  // Plain 'execute' holds what earlier releases enqueued; take_several always answers it.
  return ['execute', ...languages.map((language) => `execute:${language}`)]
}

/**
 * One runner listens for both, as notifications wake every listening connection. What does not name executions may be a
 * delivery.
 */
function createEvents(
  hint: QueueHint,
  execute: Pick<TakingTask, 'noteCancel' | 'noteWatch' | 'lookAgain'>,
): {
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
  events.execute.on('pool:listen:success', ({ client }) => {
    hint.noteAnnounced()
    listenAlso(client, [cancelChannel, watchChannel], () => {
      execute.lookAgain()
    })
  })
  events.execute.on('pool:listen:notification', ({ message }) => {
    const { channel, payload = '' } = message
    if (channel === cancelChannel) {
      execute.noteCancel(payload)
      return
    }
    if (channel === watchChannel) {
      execute.noteWatch(payload)
      return
    }
    const { task, count } = readAnnouncement(payload)
    if (task !== 'execute') nudgeDeliver()
    hint.noteAnnounced(count)
  })
  return { events, poolIds }
}

/** Waits for a database that is away: a platform would restart a worker that ends, after ever longer pauses. */
async function startRunner(log: Logger, options: RunnerOptions): Promise<Runner> {
  const logger = new QueueLogger(({ jobId }) => (level, message) => {
    if (level === 'error') log.error({ job: jobId, message }, 'queue.error')
    else log.debug({ job: jobId, message }, 'queue.message')
  })
  const start = (): Promise<Runner> => run({ noHandleSignals: true, logger, ...options })
  return untilAvailable(() => start().catch(throwWithCode), log)
}
