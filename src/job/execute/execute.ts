// The door to running submissions, the task 'execute': an attempt begins (attempt.ts), runs (run-attempt.ts) and ends in the
// log (end-attempt.ts). No transaction is open in between. cancel.ts hears that somebody asks for its end, teller.ts tells
// what it writes to those who watch. #queue says how a job comes here.
import * as v from 'valibot'
import type { Language } from '#language'
import { createStarter, jobSchema } from './attempt.ts'
import type { Attempt, Taken } from './attempt.ts'
import { createCancels } from './cancel.ts'
import { endAttempt } from './end-attempt.ts'
import { runAttempt } from './run-attempt.ts'
import type { ExecuteDependencies } from './run-attempt.ts'
import { createTellers } from './teller.ts'

export { describeLimits } from './limits.ts'
export { fetchBlob } from './named-blobs.ts'
export type { ExecuteDependencies } from './run-attempt.ts'
export { createSuspension } from './suspension.ts'

export interface ExecuteTask {
  readonly languages: readonly Language[]
  /** Takes the next job and begins its attempt; then `run` needs the row. Null: none now. */
  take(): Promise<Taken['job'] | null>
  /** True while it takes none. */
  readonly isSuspended: boolean
  /** Resolves as soon as the next program may run, perhaps before this one is in the log. */
  run(payload: unknown): Promise<void>
  /** Of this submission, or without one of any that runs here, the end may have been asked for. */
  noteCancel(submission?: string): void
  /** This submission is watched, or without one any that runs here may be. */
  noteWatch(submission?: string): void
  /** Resolves when everything is in the log. */
  settled(): Promise<void>
}

/** It never rejects over a run: the log, not the queue, decides what comes next. */
export function createExecuteTask(dependencies: ExecuteDependencies): ExecuteTask {
  const { log, executor, database } = dependencies
  const starter = createStarter(dependencies)
  /** Begun by `take` and not yet given to `run`, by id. */
  const taken = new Map<string, Attempt>()
  const running = new Map<string, Promise<void>>()
  const ending = new Set<Promise<void>>()
  /** Begun here, their end not yet in the log. */
  const underWay = new Set<string>()
  const cancels = createCancels(database, log)
  const tellers = createTellers(database, log)

  /** Null: nothing to do. */
  async function findAttempt(payload: unknown): Promise<Attempt | null> {
    const parsed = v.safeParse(jobSchema, payload)
    if (!parsed.success) {
      log.error({ issues: v.flatten(parsed.issues) }, 'job.poisoned')
      return null
    }
    const { submission, run = '' } = parsed.output
    const begun = taken.get(run)
    taken.delete(run)
    if (begun !== undefined) return begun
    // A second job of a running submission must neither take its attempt away nor be dropped: it counts if others gave
    // that attempt up.
    while (running.has(submission)) await running.get(submission)
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
      const begun = await starter.take(underWay)
      if (begun === null) return null
      underWay.add(begun.attempt.run)
      taken.set(begun.attempt.run, begun.attempt)
      return begun.job
    },

    async run(payload) {
      const attempt = await findAttempt(payload)
      if (attempt === null) return
      underWay.add(attempt.run)
      const teller = tellers.open(attempt)
      const ran = runAttempt(dependencies, attempt, cancels, teller)
      const ended = ran
        .then((outcome) => endAttempt(dependencies, attempt, outcome))
        .catch((error: unknown) => {
          log.error({ submission: attempt.submission, err: error }, 'execution.stuck')
          dependencies.onExhausted?.('an attempt cannot be ended')
        })
        .finally(() => {
          teller.end()
          ending.delete(ended)
          underWay.delete(attempt.run)
          if (running.get(attempt.submission) === ended) running.delete(attempt.submission)
        })
      ending.add(ended)
      running.set(attempt.submission, ended)
      await ran
      // A slow database must not get ever more results.
      while (ending.size > 2 * executor.slots) await Promise.race(ending)
    },

    noteCancel(submission) {
      if (submission === undefined) cancels.look()
      else cancels.hear(submission)
      tellers.tick()
    },

    noteWatch: tellers.noteWatch,

    async settled() {
      await Promise.all(ending)
    },
  }
}
