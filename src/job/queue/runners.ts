// graphile-worker's runners, one after another: what they are to run changes with a pause, a suspension, and the languages that
// the host has. One that is stopped takes nothing more and finishes what it has, while the next one runs.
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, Logger as QueueLogger } from 'graphile-worker'
import type { Runner, TaskList, WorkerEvents, WorkerPool } from 'graphile-worker'
import type { Pool } from 'pg'
import { isUnavailable } from '#database'
import type { Logger } from '#log'
import { untilAvailable } from '#retry'
import { giveCode, throwWithCode } from './pool.ts'

/**
 * As many jobs as there are slots are taken by one statement: slots that begin together share the next one, too. Those that find
 * no slot for so long are given back, as another worker may have one.
 */
const holdMilliseconds = 10
/** They are back after this, in most cases. */
const returnMilliseconds = 10

interface RunnersOptions {
  readonly pool: Pool
  readonly concurrency: number
  /** What is to be run now; no task: nothing. Called by each `refresh`. */
  readonly listTasks: () => TaskList
  /** Jobs that have ended are removed together. */
  readonly removalMilliseconds: number
  /** Called when jobs that found no slot are nobody's again. Without it jobs are taken one by one. */
  readonly onReturned?: () => Promise<void>
  readonly log: Logger
}

interface Runners {
  /** Under these ids they lock jobs, also those that were stopped and have not finished. */
  readonly poolIds: Iterable<string>
  /** Settles when a runner has ended by itself. */
  readonly ended: Promise<void>
  /** Resolves when what runs is what is to be run. */
  refresh(): Promise<void>
  /** There is a job: whoever is idle looks now. */
  nudge(): void
  /** Resolves when all have finished what they had. */
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
    })
    const runner = await untilAvailable(() => startOnce(taskList, events).catch(throwWithCode), log)
    let isRetired = false
    // Its statement returns several in the order of their ids, and slots take them in this array's.
    events.on('localQueue:getJobs:complete', ({ jobs }) => {
      jobs.sort((one, other) => one.priority - other.priority || +one.run_at - +other.run_at)
    })
    // graphile-worker notifies nobody that a job can be taken again.
    let notifying: Promise<void> | undefined
    events.on('localQueue:returnJobs', () => {
      notifying ??= sleep(returnMilliseconds)
        .then(() => options.onReturned?.())
        .finally(() => (notifying = undefined))
    })
    runner.promise.then(
      () => isRetired || resolve(),
      (error: unknown) => isRetired || reject(error),
    )
    return {
      tasks: Object.keys(taskList).join(),
      nudge: () => isRetired || workerPool?.nudge(1),
      retire() {
        isRetired = true
        const finished = runner
          .stop()
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
    const { pool: pgPool, concurrency, removalMilliseconds, onReturned } = options
    return run({
      pgPool,
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
      // `ended` says why one could not be started.
      await refresh().catch(() => {})
      await Promise.all(finishing)
      resolve()
    },
  }
}
