// The entry to the queue, for the worker. The states of a submission, in order:
//
//   waiting     Its key is at its limit: it is in runledger.pending without a job (runledger.admit_waiting).
//   queued      It has a job of graphile-worker's, committed with its cause, whose key is the submission's id. Its task names
//               its language, so it comes only to workers that run it; its run_at is its fair position (job.find_position).
//   taken       graphile-worker takes as many jobs as there are slots and hands them to free ones (runners.ts);
//               execution.started is appended (runledger.start).
//   running     Under the worker's lease (#lease). No transaction is open, and nothing is locked but the job.
//   parked      Between two tests, when another account is next: it runs as before, but its slot is lent. It has a job of its
//               own, at a later position, which this worker alone takes (runledger.lend_slot; #execute, continue.ts).
//   concluded   execution.completed; with it the key's next submission and the delivery are enqueued.
//   cancelled   By its caller (runledger.cancel). Without an attempt it ends at once, and its job is removed. An
//               attempt's worker hears of it by a notification, looks when it renews its lease (#execute, cancel.ts), and
//               concludes with submission.cancelled what the program had done.
//   requeued    execution.interrupted: it is enqueued again, before all others; or execution.abandoned after too many
//               losses (runledger.interrupt).
//   lost        Its worker died or went silent: the sweep requeues it within seconds (runledger.sweep_workers). The
//               reconciler enqueues what has no job and is not running (runledger.reconcile_queue).
//
// A delivery is enqueued for when it is due (job.enqueue_deliver), locked by graphile-worker while attempted, and
// concluded by the attempt's event, which enqueues the next or ends the stream. With a busy receiver it is postponed
// (runledger.postpone_delivery); lost and reconciled as above.
//
// The log decides, not the queue (event/event.ts): a job that comes twice, late or after the end does nothing.
// A pause, a suspension or a change of languages stops the runner and starts another one (runners.ts).
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '#log'
import { createQueuePool } from './pool.ts'
import { createRunners } from './runners.ts'
import { createSlots } from './slots.ts'

/** Executions are handed out again to whoever asks, so many removals of finished jobs share a statement. */
const removalMilliseconds = 200
/** So long after a statement was lost its answer may have been a job: a server that stood still executes it later. */
const lostMilliseconds = 15_000
// How often a draining worker looks whether anything is left.
const idleMilliseconds = 100
/** Taking and removing jobs takes milliseconds; on one of the first it listens. */
const connections = { execute: 3, deliver: 2 }

/** What runs submissions. */
export interface ExecutingTask {
  /** Those that it runs now. */
  readonly languages: readonly string[]
  /** True while it takes none. */
  readonly isSuspended: boolean
  /**
   * Runs what a job in this language names, if there is anything to do. Resolves as soon as the next program may run, perhaps
   * before this one's end is in the log.
   * @param onWebhook called when its end is there and a webhook is due.
   */
  run(payload: unknown, language: string, onWebhook?: () => void): Promise<void>
  /** Of the jobs by which those go on that have lent their slot (continue.ts). */
  readonly continueTask: string
  /** Runs what such a job names on. Resolves as `run`. */
  goOn(payload: unknown): Promise<void>
  /** From now on no slot is lent, and what waits for one goes on. */
  keepSlots(): void
  /** Puts back a job that it is not to run now. */
  putBack(payload: unknown): Promise<void>
  /** Notifies every worker that jobs which were taken can be taken again. Never rejects. */
  notifyReturned(): Promise<void>
  /** @param listener called when a worker notifies so. */
  listenReturned(listener: () => void): void
  /** Puts back jobs that were handed out by these pools' lost answers. @param onFound called when there were some. */
  requeueLost(poolIds: readonly string[], onFound: () => void): Promise<void>
  /** Called by the clock: looks which runs are cancelled, now and then which are watched. */
  tick(): void
  /** Resolves when everything is in the log. */
  settled(): Promise<void>
}

export interface QueueOptions {
  readonly url: string
  readonly execute: ExecutingTask
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
  /** To be called by the clock, and when a pause, a suspension or the languages have changed. */
  tick(): void
  /** Resolves when nothing taken is left. */
  idle(): Promise<void>
  /** Waits for those under way. */
  stop(): Promise<void>
}

/** One runner for executions and one for deliveries: a slow receiver must never hold a slot. */
export async function startRunners(options: QueueOptions): Promise<Queue> {
  const { url, log, execute, isPaused = () => false } = options
  let lostAt = Number.NEGATIVE_INFINITY
  const pools = {
    execute: createQueuePool(url, connections.execute, log, {
      onLost() {
        lostAt = performance.now()
      },
    }),
    // Each submission would wake it, mostly in vain.
    deliver: createQueuePool(url, connections.deliver, log, { listens: false }),
  }
  let underWay = 0
  const counted =
    (work: (payload: unknown) => Promise<void>) =>
    async (payload: unknown): Promise<void> => {
      underWay += 1
      await work(payload).finally(() => (underWay -= 1))
    }
  // What a runner that was stopped still runs has its slots until it ends.
  const slots = {
    execute: createSlots(options.executions),
    deliver: createSlots(options.deliveries),
  }
  const isOpen = (): boolean => !isPaused() && !execute.isSuspended
  const runIn = (language: string): ((payload: unknown) => Promise<void>) =>
    counted((payload) =>
      slots.execute(() =>
        isOpen()
          ? execute.run(payload, language, () => runners.deliver.nudge())
          : execute.putBack(payload),
      ),
    )
  const goOn = counted((payload) => slots.execute(() => execute.goOn(payload)))
  const deliver = counted((payload) => slots.deliver(() => options.deliver(payload)))
  const shared = { log, removalMilliseconds }
  const runners = {
    execute: createRunners({
      ...shared,
      pool: pools.execute.pool,
      concurrency: options.executions,
      onReturned: () => execute.notifyReturned(),
      listTasks: () => {
        const languages = isOpen() ? execute.languages : []
        return {
          // What has started is finished, whatever is wanted of the worker.
          [execute.continueTask]: goOn,
          ...Object.fromEntries(languages.map((name) => [`execute:${name}`, runIn(name)])),
        }
      },
    }),
    deliver: createRunners({
      ...shared,
      pool: pools.deliver.pool,
      concurrency: options.deliveries,
      listTasks: () => (isPaused() ? {} : { deliver }),
    }),
  }
  execute.listenReturned(runners.execute.nudge)
  // graphile-worker migrates in transactions.
  await runners.execute.refresh()
  await runners.deliver.refresh()
  for (const pool of Object.values(pools)) pool.beginRetrying()
  // With one of them the queue has ended: half a worker must not look like a whole one.
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
      if (performance.now() - lostAt < lostMilliseconds)
        void execute.requeueLost([...runners.execute.poolIds], runners.execute.nudge)
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
