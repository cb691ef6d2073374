// Runs graphile-worker's runners one after another, because their tasks change with a pause, a suspension and the host's
// languages. A stopped runner takes no more jobs and finishes those that it has, while the next one runs.
import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, Logger as QueueLogger } from 'graphile-worker'
import type { Runner, TaskList, WorkerEvents, WorkerPool } from 'graphile-worker'
import { isUnavailable, untilAvailable } from '#database'
import type { Logger } from '#log'
import { giveCode, throwWithCode } from './pool.ts'
import type { QueuePool } from './pool.ts'

/**
 * One statement takes as many jobs as there are slots, so slots that start together share the next statement, too. A job that
 * finds no slot for this long is returned, because another worker may have a free slot.
 */
const holdMilliseconds = 10
/** In most cases returned jobs are in the queue again after this time. */
const returnMilliseconds = 10
/** The time between removals of finished jobs, so that many removals share a statement. */
const removalMilliseconds = 200

interface RunnersOptions {
  readonly pool: QueuePool
  readonly concurrency: number
  /** Returns the tasks to run now; without a task, no runner runs. Called by each `refresh`. */
  readonly listTasks: () => TaskList
  /** Called when jobs that found no slot are in the queue again. Without it, jobs are taken one by one. */
  readonly onReturned?: () => Promise<void>
  readonly log: Logger
}

interface Runners {
  /** The ids under which the runners lock jobs, including stopped runners that have not finished. */
  readonly poolIds: Iterable<string>
  /** Settles when a runner has ended by itself. */
  readonly ended: Promise<void>
  /** Starts and stops runners as `listTasks` says. Resolves when that is done. */
  refresh(): Promise<void>
  /** Makes idle slots look for a job now. */
  nudge(): void
  /** Resolves when all runners have finished their jobs. */
  stop(): Promise<void>
}

interface Current {
  readonly tasks: string
  nudge(): void
  retire(): void
}

export function createRunners(options: RunnersOptions): Runners {
  const { log } = options
  const logger = new QueueLogger(({ jobId }) => (level, message, meta) => {
    const error = giveCode(meta?.['error'])
    if (isUnavailable(error)) log.warn({ err: error }, 'queue.unavailable')
    else if (level === 'error') log.error({ job: jobId, message }, 'queue.error')
    else log.debug({ job: jobId, message }, 'queue.message')
  })
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  ended.catch(() => {})
  const poolIds = new Set<string>()
  const finishing = new Set<Promise<void>>()
  let current: Current | undefined
  let isStopped = false
  let changing = Promise.resolve()

  async function start(taskList: TaskList): Promise<Current> {
    const events: WorkerEvents = new EventEmitter()
    let workerPool: WorkerPool | undefined
    events.on('pool:create', (created) => {
      ;({ workerPool } = created)
      poolIds.add(workerPool.id)
      options.pool.beginRetrying()
    })
    const runner = await untilAvailable(() => startOnce(taskList, events).catch(throwWithCode), log)
    let isRetired = false
    // graphile-worker's statement returns jobs in the order of their ids, but slots take them in the order of this array.
    events.on('localQueue:getJobs:complete', ({ jobs }) => {
      jobs.sort((one, other) => one.priority - other.priority || +one.run_at - +other.run_at)
    })
    // graphile-worker notifies nobody when it returns a job to the queue.
    let notifying: Promise<void> | undefined
    events.on('localQueue:returnJobs', () => {
      notifying ??= sleep(returnMilliseconds)
        .then(() => options.onReturned?.())
        .finally(() => (notifying = undefined))
    })
    let isHolding = false
    events.on('localQueue:setMode', ({ newMode }) => {
      isHolding = newMode === 'WAITING'
    })
    // graphile-worker 0.18 logs errors when it is stopped while it holds jobs, although it returns them.
    const stop = async (): Promise<void> => {
      while (isHolding) await once(events, 'localQueue:setMode')
      await runner.stop()
    }
    runner.promise.then(
      () => isRetired || resolve(),
      (error: unknown) => isRetired || reject(error),
    )
    return {
      tasks: Object.keys(taskList).join(),
      nudge: () => isRetired || workerPool?.nudge(1),
      retire() {
        isRetired = true
        const finished = stop()
          .catch((error: unknown) => log.warn({ err: error }, 'queue.not_stopped'))
          .then(() => notifying)
          .finally(() => {
            poolIds.delete(workerPool?.id ?? '')
            finishing.delete(finished)
          })
        finishing.add(finished)
      },
    }
  }

  function startOnce(taskList: TaskList, events: WorkerEvents): Promise<Runner> {
    const { concurrency, onReturned } = options
    return run({
      pgPool: options.pool.pool,
      concurrency,
      taskList,
      events,
      logger,
      noHandleSignals: true,
      preset: {
        worker: {
          completeJobBatchDelay: removalMilliseconds,
          failJobBatchDelay: removalMilliseconds,
          ...(onReturned && { localQueue: { size: concurrency, ttl: holdMilliseconds } }),
        },
      },
    })
  }

  async function change(): Promise<void> {
    const tasks = isStopped ? {} : options.listTasks()
    if (Object.keys(tasks).join() === (current?.tasks ?? '')) return
    current?.retire()
    current = undefined
    if (Object.keys(tasks).length > 0) current = await start(tasks)
  }

  function refresh(): Promise<void> {
    changing = changing.then(change)
    changing.catch(reject)
    return changing
  }

  return {
    poolIds,
    ended,
    refresh,
    nudge: () => current?.nudge(),
    async stop() {
      isStopped = true
      // `ended` reports why a runner could not be started.
      await refresh().catch(() => {})
      await Promise.all(finishing)
      resolve()
    },
  }
}
