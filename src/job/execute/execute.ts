// Runs submissions: the tasks 'execute:<language>'. An attempt starts (attempt.ts), runs (run-attempt.ts), and its result
// is written into the log (conclude.ts). No transaction is open in between. Meanwhile output-publisher.ts publishes output
// while somebody watches, and continue.ts lends a slot between two tests. #queue describes how a job comes here.
import type { Database } from '#database'
import type { Logger } from '#log'
import { cancelChannel } from '#notify'
import type { ExecutingTask } from '#queue'
import { createBegin } from './attempt.ts'
import { createConclude, endAttempt } from './conclude.ts'
import { createContinuations } from './continue.ts'
import { createOutputPublisher } from './output-publisher.ts'
import { createOutputQuotas } from './output-quota.ts'
import { runAttempt } from './run-attempt.ts'
import type { ExecuteDependencies } from './run-attempt.ts'

export { describeLimits } from './attempt.ts'
export type { ExecuteDependencies } from './run-attempt.ts'
export { createSuspension } from './suspension.ts'
export type { Suspension } from './suspension.ts'

/** runledger.watch_submissions sends the ids of watched submissions here. */
const watchChannel = 'runledger_watch'

/** Creates the task. It never rejects because of a run: the log, not the queue, decides what comes next. */
export function createExecuteTask(dependencies: ExecuteDependencies): ExecutingTask {
  const { log, executor, database } = dependencies
  /** Attempts whose result is not in the log yet. */
  const unfinished = new Set<Promise<void>>()
  /** Runs that were started here and whose result is not in the log yet. */
  const startedIds = new Set<string>()
  const begin = createBegin(dependencies, startedIds)
  const cancels = createCancels(database, log)
  const publisher = createOutputPublisher(database, log)
  const continuations = createContinuations(dependencies)
  const quotas = createOutputQuotas(database, log)
  const listening = [
    database.listen(cancelChannel, cancels.hear, cancels.look),
    database.listen(watchChannel, publisher.noteWatch, publisher.lookAgain),
  ]
  // Listening is tried again, and `tick` looks as well.
  for (const each of listening)
    each.catch((error: unknown) => log.warn({ err: error }, 'database.not_listening'))
  const endDependencies = {
    ...dependencies,
    conclude: createConclude(database, dependencies.patientDatabase),
    quotas,
  }

  return {
    get languages() {
      return Object.keys(executor.runtimes)
    },

    get isSuspended() {
      return dependencies.suspension.suspended
    },

    async run(submission, language, onWebhook) {
      const attempt = await begin(submission, language)
      if (attempt === 'put_back') return attempt
      if (attempt === null) return undefined
      const output = publisher.open(attempt)
      const tenure = continuations.open(attempt)
      const { signal: cancelled, forget } = cancels.watch(submission)
      const ran = runAttempt(dependencies, attempt, { cancelled, output, tenure })
      const end = async (): Promise<void> => {
        await endAttempt(endDependencies, attempt, await ran)
        if (attempt.hasWebhook) onWebhook?.()
      }
      const ended = end()
        .catch((error: unknown) => {
          log.error({ submission, err: error }, 'execution.stuck')
          dependencies.onExhausted('an attempt cannot be ended')
        })
        .finally(() => {
          forget()
          output.end()
          tenure.end()
          unfinished.delete(ended)
          startedIds.delete(attempt.run)
        })
      unfinished.add(ended)
      await tenure.leaves(ran)
      // Waits, because results must not pile up before a slow database.
      while (unfinished.size - continuations.parked > 2 * executor.slots)
        await Promise.race(unfinished)
      return undefined
    },

    get continueTask() {
      return continuations.task
    },

    goOn: continuations.goOn,

    keepSlots: continuations.keepSlots,

    tick() {
      cancels.look()
      publisher.tick()
      quotas.tick()
      continuations.look()
    },

    async settled() {
      await Promise.all(unfinished)
      await quotas.report()
    },
  }
}

interface Cancels {
  /** @returns a signal that fires when the run must stop. Call `forget` when the run is over. */
  watch(submission: string): { readonly signal: AbortSignal; forget(): void }
  /** Checks a submission that may be cancelled. It may run on another worker. */
  hear(submission: string): void
  /** Checks all runs of this worker. */
  look(): void
}

/**
 * Stops runs whose callers have cancelled them. A notification proves nothing, because it may be lost and anybody may send
 * one. So the database is asked which submissions are cancelled.
 */
function createCancels(database: Database, log: Logger): Cancels {
  const watched = new Set<{ readonly submission: string; readonly stop: AbortController }>()

  /** Asks which submissions are cancelled. A failure is only logged: the next look comes with the next renewal of the lease. */
  async function ask(submissions: readonly string[]): Promise<void> {
    if (submissions.length === 0) return
    try {
      const rows = await database<{ id: string }[]>`
        select submission_id as id from runledger.pending
        where submission_id = any (${[...submissions]}::uuid[]) and is_cancelled`
      const cancelled = new Set(rows.map(({ id }) => id))
      for (const { submission, stop } of watched)
        if (cancelled.has(submission)) stop.abort(new Error('cancelled'))
    } catch (error) {
      log.warn({ err: error }, 'cancel.not_read')
    }
  }

  return {
    watch(submission) {
      const run = { submission, stop: new AbortController() }
      watched.add(run)
      return { signal: run.stop.signal, forget: () => void watched.delete(run) }
    },
    hear(submission) {
      // Where it is about to start, the next look finds it.
      if (watched.values().some((run) => run.submission === submission)) void ask([submission])
    },
    look: () => void ask([...watched].map(({ submission }) => submission)),
  }
}
