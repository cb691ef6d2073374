// The door to running submissions, the task 'execute': an attempt begins (attempt.ts), runs (run-attempt.ts) and ends in the
// log (end-attempt.ts). No transaction is open in between. cancel.ts hears that somebody asks for its end, output-publisher.ts
// publishes what it writes while somebody watches. #queue says how a job comes here.
import * as v from 'valibot'
import type { Language } from '#language'
import type { TakingTask } from '#queue'
import { createStarter, jobSchema } from './attempt.ts'
import type { Attempt } from './attempt.ts'
import { createCancels } from './cancel.ts'
import { endAttempt } from './end-attempt.ts'
import { createOutputPublisher } from './output-publisher.ts'
import { createOutputQuotas } from './output-quota.ts'
import { runAttempt } from './run-attempt.ts'
import type { ExecuteDependencies } from './run-attempt.ts'

export { describeLimits } from './limits.ts'
export { fetchBlob } from './named-blobs.ts'
export type { ExecuteDependencies } from './run-attempt.ts'
export { createSuspension } from './suspension.ts'
export type { Suspension } from './suspension.ts'

export interface ExecuteTask extends TakingTask {
  readonly languages: readonly Language[]
}

/** It never rejects over a run: the log, not the queue, decides what comes next. */
export function createExecuteTask(dependencies: ExecuteDependencies): ExecuteTask {
  const { log, executor, database } = dependencies
  /** Begun by `take` and not yet given to `run`, by id. */
  const taken = new Map<string, Attempt>()
  /** When an attempt's end is in the log, by submission. */
  const endBySubmission = new Map<string, Promise<void>>()
  /** Given to `run`, their end not yet in the log. */
  const unfinished = new Set<Promise<void>>()
  /** Begun here, their end not yet in the log. */
  const begunIds = new Set<string>()
  const starter = createStarter(dependencies, begunIds)
  const cancels = createCancels(database, log)
  const publisher = createOutputPublisher(database, log)
  const quotas = createOutputQuotas(database, log)

  /** Null: nothing to do. */
  async function findOrBegin(payload: unknown): Promise<Attempt | null> {
    const parsed = v.safeParse(jobSchema, payload)
    if (!parsed.success) {
      log.error({ issues: v.flatten(parsed.issues) }, 'job.poisoned')
      return null
    }
    const { submission, run = '' } = parsed.output
    const begun = taken.get(run)
    taken.delete(run)
    if (begun !== undefined) return begun
    // A second job of a submission that runs here waits for the attempt's end, and is begun then: if others gave that attempt
    // up, the submission has to run again.
    while (endBySubmission.has(submission)) await endBySubmission.get(submission)
    return starter.start(parsed.output)
  }

  return {
    languages: executor.found,

    get isSuspended() {
      if (dependencies.suspension?.suspended === true) return true
      // Attempts whose start was unanswered are run all the same.
      return dependencies.isPaused?.() === true && !starter.hasUnanswered
    },

    async take() {
      const begun = await starter.take()
      if (begun === null) return null
      begunIds.add(begun.attempt.run)
      taken.set(begun.attempt.run, begun.attempt)
      return begun.job
    },

    async run(payload) {
      const attempt = await findOrBegin(payload)
      if (attempt === null) return
      begunIds.add(attempt.run)
      const output = publisher.open(attempt)
      const ran = runAttempt(dependencies, attempt, cancels, output)
      const ended = ran
        .then((result) => endAttempt(dependencies, attempt, result, quotas))
        .catch((error: unknown) => {
          log.error({ submission: attempt.submission, err: error }, 'execution.stuck')
          dependencies.onExhausted?.('an attempt cannot be ended')
        })
        .finally(() => {
          output.end()
          unfinished.delete(ended)
          begunIds.delete(attempt.run)
          if (endBySubmission.get(attempt.submission) === ended)
            endBySubmission.delete(attempt.submission)
        })
      unfinished.add(ended)
      endBySubmission.set(attempt.submission, ended)
      await ran
      // A slow database must not get ever more results.
      while (unfinished.size > 2 * executor.slots) await Promise.race(unfinished)
    },

    noteCancel: cancels.hear,
    noteWatch: publisher.noteWatch,

    lookAgain() {
      cancels.look()
      publisher.lookAgain()
    },

    tick() {
      cancels.look()
      publisher.tick()
      quotas.tick()
    },

    async settled() {
      await Promise.all(unfinished)
      await quotas.tell()
    },
  }
}
