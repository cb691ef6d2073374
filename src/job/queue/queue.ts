// The worker's entry to the queue. The states of a submission, in order:
//
//   waiting     Its API key is at its limit, so it is in runledger.pending without a job (runledger.admit_waiting).
//   queued      It has a job of graphile-worker, committed with the event that caused it. The job's key is the submission's id.
//               The job's task names the language, so only workers that run the language take it; its run_at is the
//               submission's fair position (job.find_position).
//   taken       graphile-worker takes as many jobs as there are slots and hands them to free ones (runners.ts);
//               execution.started is appended (runledger.start).
//   running     It runs under the worker's lease (#lease). No transaction is open, and only the job is locked.
//   parked      Between two tests, when another account is next: its attempt stays under way, but its slot is lent. It has
//               another job, at a later position, which this worker alone takes (runledger.lend_slot; #execute, continue.ts).
//   concluded   execution.completed is appended, and with it the key's next submission and the delivery are enqueued.
//   cancelled   Its caller has cancelled it (runledger.cancel). Without an attempt it ends at once, and its job is removed. The
//               worker of an attempt is notified, also looks when it renews its lease (#execute), and concludes
//               with submission.cancelled and what the program had done.
//   requeued    execution.interrupted is appended. The submission is enqueued again, before all others; after too many losses
//               execution.abandoned ends it (runledger.interrupt).
//   lost        Its worker died or went silent. The sweep requeues it within seconds (runledger.sweep_workers). The
//               reconciler enqueues a submission that has no job and does not run (runledger.reconcile_queue).
//
// A delivery is enqueued for its due time (job.enqueue_deliveries), locked by graphile-worker during an attempt, and concluded
// by the attempt's event, which enqueues the next attempt or ends the stream. When its receiver is busy, it is postponed
// (runledger.postpone_delivery). A lost delivery is requeued and reconciled like a submission.
//
// The log decides, not the queue (event/event.ts): a job that comes twice, late or after the submission's end does nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Task } from 'graphile-worker'
import * as v from 'valibot'
import { untilAvailable } from '#database'
import type { Database } from '#database'
import type { Logger } from '#log'
import { createQueuePool } from './pool.ts'
import { createRunners } from './runners.ts'
import { createSlots } from './slots.ts'

/** For this long after a lost statement, its answer may have been a job, because a server that stalled executes it later. */
const lostMilliseconds = 15_000
/** A job that waits this long for a slot of a stopped runner is requeued, because another worker may have a free slot. */
const patienceMilliseconds = 1000
// How often a draining worker looks whether anything is left.
const idleMilliseconds = 100
/** Few are enough, because taking and removing jobs takes milliseconds. */
const connections = 2
/** Notified when submissions' jobs are added (sql/functions/queue.sql) or returned to the queue. */
const jobChannel = 'runledger_job'

/** The task that runs submissions. */
export interface ExecutingTask {
  /** The languages that it runs now. */
  readonly languages: readonly string[]
  /** True while it takes no submissions. */
  readonly isSuspended: boolean
  /**
   * Runs a submission whose job names this language, if anything is left to do. Resolves as soon as the next program may run,
   * perhaps before this submission's result is in the log.
   * @param onWebhook called when the result is in the log and a webhook is due.
   * @returns `put_back` when the submission must not run here now.
   */
  run(submission: string, language: string, onWebhook?: () => void): Promise<'put_back' | undefined>
  /** The task of the jobs with which parked submissions continue (continue.ts). */
  readonly continueTask: string
  /** Continues the attempt that such a job names. Resolves like `run`. */
  goOn(run: string): Promise<void>
  /** Stops lending slots, and continues the submissions that wait for one. */
  keepSlots(): void
  /** Called by the clock: checks which runs are cancelled and, now and then, which are watched. */
  tick(): void
  /** Resolves when all results are in the log. */
  settled(): Promise<void>
}

export interface QueueOptions {
  readonly url: string
  /** Puts jobs back. graphile-worker has connections of its own. */
  readonly database: Database
  readonly execute: ExecutingTask
  readonly executions: number
  readonly deliver: (webhook: string) => Promise<void>
  readonly deliveries: number
  /** While it returns true, no submission or delivery is taken. */
  readonly isPaused?: () => boolean
  readonly log: Logger
}

export interface Queue {
  /** The ids under which this process locks jobs. */
  readonly poolIds: readonly string[]
  /** Settles when the queue has stopped, by `stop` or a failure. */
  readonly ended: Promise<void>
  /** Must be called by the clock, and when a pause, a suspension or the languages change. */
  tick(): void
  /** Resolves when no job that was taken is left. */
  idle(): Promise<void>
  /** Takes no more jobs, and waits for those under way. */
  stop(): Promise<void>
}

/** Starts a runner for executions and one for deliveries, so that a slow receiver never holds a slot. */
export async function startQueue(options: QueueOptions): Promise<Queue> {
  const { url, database, log, execute, isPaused = () => false } = options
  let lostAt = Number.NEGATIVE_INFINITY
  const pools = {
    execute: createQueuePool(url, connections, log, () => {
      lostAt = performance.now()
    }),
    deliver: createQueuePool(url, connections, log),
  }
  let underWay = 0
  /** Makes a task of the work on the id that a job's payload has under this name. A job without one is dropped. */
  const makeTask = (name: string, work: (id: string) => Promise<void>): Task => {
    const schema = v.object({ [name]: v.pipe(v.string(), v.uuid()) })
    return async (payload) => {
      const parsed = v.safeParse(schema, payload)
      if (!parsed.success) {
        log.error({ issues: v.flatten(parsed.issues) }, 'job.poisoned')
        return
      }
      underWay += 1
      await work(parsed.output[name] ?? '').finally(() => (underWay -= 1))
    }
  }
  // Shared by all runners, because the jobs of a stopped runner keep their slots until they end.
  const slots = {
    execute: createSlots(options.executions),
    deliver: createSlots(options.deliveries),
  }
  const isOpen = (): boolean => !isPaused() && !execute.isSuspended
  /** Requeues the job of a submission that must not run now. */
  const putBack = async (submission: string): Promise<void> => {
    await untilAvailable(
      () => database`select runledger.requeue_jobs(${[submission]}::uuid[])`,
      log,
    )
  }
  /** Requeues the jobs that lost answers have handed to this worker. Never rejects. */
  const requeueLost = async (): Promise<void> => {
    try {
      const [row] = await database<[{ count: number }]>`
        select runledger.requeue_jobs('{}', ${[...runners.execute.poolIds]}::text[]) as count`
      if (row.count > 0) runners.execute.nudge()
    } catch (error) {
      log.warn({ err: error }, 'queue.not_looked_through') // `tick` asks again, and the reconciler looks
    }
  }
  const runIn = (language: string): Task =>
    makeTask('submission', (id) =>
      slots.execute(
        async () => {
          const ran = isOpen()
            ? await execute.run(id, language, () => runners.deliver.nudge())
            : 'put_back'
          if (ran === 'put_back') await putBack(id)
        },
        { milliseconds: patienceMilliseconds, giveUp: () => putBack(id) },
      ),
    )
  const goOn = makeTask('run', (run) => slots.execute(() => execute.goOn(run)))
  const deliver = makeTask('webhook', (id) => slots.deliver(() => options.deliver(id)))
  const runners = {
    execute: createRunners({
      log,
      pool: pools.execute,
      concurrency: options.executions,
      async onReturned() {
        // Idle workers also look every other second.
        await database.notify(jobChannel, '').catch(() => {})
      },
      listTasks: () => {
        const languages = isOpen() ? execute.languages : []
        return {
          // A submission that has started is finished, even while the worker is paused or suspended.
          [execute.continueTask]: goOn,
          ...Object.fromEntries(languages.map((name) => [`execute:${name}`, runIn(name)])),
        }
      },
    }),
    deliver: createRunners({
      log,
      pool: pools.deliver,
      concurrency: options.deliveries,
      listTasks: () => (isPaused() ? {} : { deliver }),
    }),
  }
  // Listening is tried again.
  const { nudge } = runners.execute
  database.listen(jobChannel, nudge, nudge).catch((error: unknown) => {
    log.warn({ err: error }, 'database.not_listening')
  })
  await runners.execute.refresh()
  await runners.deliver.refresh()
  // The queue ends with either runner, because half a worker must not look like a whole one.
  const ended = Promise.race([runners.execute.ended, runners.deliver.ended])
  ended.catch(() => {})
  let stopped: Promise<void> | undefined

  return {
    get poolIds() {
      return [...runners.execute.poolIds, ...runners.deliver.poolIds]
    },
    ended,
    tick() {
      execute.tick()
      if (performance.now() - lostAt < lostMilliseconds) void requeueLost()
      void runners.execute.refresh()
      void runners.deliver.refresh()
    },
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
    execute.keepSlots()
    await Promise.all([runners.execute.stop(), runners.deliver.stop()])
    await execute.settled()
    await Promise.all(Object.values(pools).map(({ pool }) => pool.end()))
  }
}
