// Running submissions, the tasks 'execute:<language>': an attempt starts (attempt.ts), runs (run-attempt.ts) and ends in the
// log (conclude.ts). No transaction is open in between. cancel.ts hears that somebody asks for its end, output-publisher.ts
// publishes what it writes while somebody watches, and continue.ts lends its slot between two tests. #queue says how a job comes here.
import * as v from 'valibot'
import type { Language } from '#language'
import type { ExecutingTask } from '#queue'
import { untilAvailable } from '#retry'
import { createBegin } from './attempt.ts'
import { createCancels } from './cancel.ts'
import { createConclude, endAttempt } from './conclude.ts'
import { createContinuations } from './continue.ts'
import { createOutputPublisher } from './output-publisher.ts'
import { createOutputQuotas } from './output-quota.ts'
import { runAttempt } from './run-attempt.ts'
import type { ExecuteDependencies } from './run-attempt.ts'

export { describeLimits } from './attempt.ts'
export { fetchBlob } from './named-blobs.ts'
export type { ExecuteDependencies } from './run-attempt.ts'
export { createSuspension } from './suspension.ts'
export type { Suspension } from './suspension.ts'

interface ExecuteTask extends ExecutingTask {
  readonly languages: readonly Language[]
}

/** Read from the database, so it is checked. */
const jobSchema = v.object({ submission: v.pipe(v.string(), v.uuid()) })

/** notify.ts notifies here, with the submission's id. */
const cancelChannel = 'runledger_cancel'
/** So does runledger.watch_submissions. */
const watchChannel = 'runledger_watch'
/** So does a worker that has given jobs back. */
const returnChannel = 'runledger_return'

/** It never rejects over a run: the log, not the queue, decides what comes next. */
export function createExecuteTask(dependencies: ExecuteDependencies): ExecuteTask {
  const { log, executor, database } = dependencies
  /** Given to `run`, their end not yet in the log. */
  const unfinished = new Set<Promise<void>>()
  /** Started here, their end not yet in the log. */
  const startedIds = new Set<string>()
  const begin = createBegin(dependencies, startedIds)
  const cancels = createCancels(database, log)
  const publisher = createOutputPublisher(database, log)
  const continuations = createContinuations(dependencies)
  const quotas = createOutputQuotas(database, log)
  let onReturned: (() => void) | undefined
  const listening = [
    database.listen(cancelChannel, cancels.hear, cancels.look),
    database.listen(watchChannel, publisher.noteWatch, publisher.lookAgain),
    database.listen(returnChannel, () => onReturned?.()),
  ]
  // It is tried again; the clock looks as well.
  for (const each of listening)
    each.catch((error: unknown) => log.warn({ err: error }, 'database.not_listening'))
  const endDependencies = { ...dependencies, conclude: createConclude(database), quotas }

  /** Null: it is none of ours. */
  function readSubmission(payload: unknown): string | null {
    const parsed = v.safeParse(jobSchema, payload)
    if (parsed.success) return parsed.output.submission
    log.error({ issues: v.flatten(parsed.issues) }, 'job.poisoned')
    return null
  }

  async function putBack(submission: string): Promise<void> {
    await untilAvailable(
      () => database`select runledger.requeue_jobs(${[submission]}::uuid[])`,
      log,
    )
  }

  return {
    get languages() {
      return Object.keys(executor.runtimes) as Language[]
    },

    get isSuspended() {
      return dependencies.suspension?.suspended === true
    },

    async putBack(payload) {
      const submission = readSubmission(payload)
      if (submission !== null) await putBack(submission)
    },

    async notifyReturned() {
      // Idle workers look every other second, too.
      await database.notify(returnChannel, '').catch(() => {})
    },

    listenReturned(listener) {
      onReturned = listener
    },

    async requeueLost(poolIds, onFound) {
      try {
        const [row] = await database<[{ count: number }]>`
          select runledger.requeue_jobs('{}', ${[...poolIds]}::text[]) as count`
        if (row.count > 0) onFound()
      } catch (error) {
        log.warn({ err: error }, 'queue.not_looked_through') // the clock asks again, and the reconciler looks
      }
    },

    async run(payload, language, onWebhook) {
      const submission = readSubmission(payload)
      if (submission === null) return
      const attempt = await begin(submission, language)
      if (attempt === 'put_back') await putBack(submission)
      if (attempt === 'put_back' || attempt === null) return
      startedIds.add(attempt.run)
      const output = publisher.open(attempt)
      const tenure = continuations.open(attempt)
      const ran = runAttempt(dependencies, attempt, cancels, { output, tenure })
      const end = async (): Promise<void> => {
        await endAttempt(endDependencies, attempt, await ran)
        if (attempt.hasWebhook) onWebhook?.()
      }
      const ended = end()
        .catch((error: unknown) => {
          log.error({ submission, err: error }, 'execution.stuck')
          dependencies.onExhausted?.('an attempt cannot be ended')
        })
        .finally(() => {
          output.end()
          tenure.end()
          unfinished.delete(ended)
          startedIds.delete(attempt.run)
        })
      unfinished.add(ended)
      await tenure.leaves(ran)
      // A slow database must not get ever more results.
      while (unfinished.size - continuations.parked > 2 * executor.slots)
        await Promise.race(unfinished)
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
