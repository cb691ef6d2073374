// Begins attempts: execution.started is logged before a program runs. One statement takes and begins jobs; where that
// fails, a second one begins it (start-statements.ts).
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import type { Executor } from '#executor'
import { reachFailpoint } from '#failpoint'
import { createId } from '#id'
import type { Language, Limits } from '#language'
import type { WorkerIdentity } from '#lease'
import type { Logger } from '#log'
import { createStartStatements, listOffered } from './start-statements.ts'
import type { StartedRow } from './start-statements.ts'

export interface AttemptDependencies {
  readonly database: Database
  readonly executor: Executor
  readonly limits: Readonly<Record<Language, Limits>>
  readonly log: Logger
  readonly lease: WorkerIdentity
  /** Fires when the process must give its runs back. */
  readonly shutdown: AbortSignal
}

/** Read from the database, so it is checked. */
export const jobSchema = v.object({
  submission: v.pipe(v.string(), v.uuid()),
  language: v.nullish(v.string()),
  /** Begun when the job was taken; a waiting job has none. */
  run: v.optional(v.string()),
})
export type Job = v.InferOutput<typeof jobSchema>

export interface Attempt {
  readonly submission: string
  /** The attempt's id. */
  readonly run: string
  /** Of its execution.started: the fencing token. */
  readonly version: number
  /** The worker's id at the start, and the signal that it is no longer ours. */
  readonly identity: WorkerIdentity
  readonly accountId: string
  readonly language: Language
  /** Null when the body is gone. */
  readonly code: Buffer | null
  readonly stdin: Buffer
  readonly expectedStdout: Buffer | null
  /** As it is kept. */
  readonly detail: Buffer | null
  /** What all of it may run, by the clock. */
  readonly totalSeconds: number
}

/** As graphile-worker takes a job. */
export interface Taken {
  readonly job: { readonly id: string; readonly task_id: number; readonly payload: Job }
  readonly attempt: Attempt
}

/** Begins attempts for one worker. */
export interface Starter {
  /** True while an answer to a start is lost: `take` finds it. */
  readonly hasUnanswered: boolean
  /**
   * @returns null when nothing waits.
   * @throws when the next job needs `start`; then none was taken.
   */
  take(): Promise<Taken | null>
  /** @returns null when there is nothing to do. */
  start(job: Job): Promise<Attempt | null>
}

/** A tier's, where its key was removed by hand. */
const usualTotalSeconds = 600

// Then a worker that was given up is back under a new id.
const returnMilliseconds = 200

/** @param begunIds this process's runs; second jobs of theirs are not begun. */
export function createStarter(
  dependencies: AttemptDependencies,
  begunIds: Iterable<string>,
): Starter {
  const { executor, lease, shutdown } = dependencies
  const statements = createStartStatements(dependencies, begunIds)

  /** Repeats it under the worker's next id if this one was given up. */
  async function underIdentity<T>(begin: (identity: WorkerIdentity) => Promise<T>): Promise<T> {
    for (;;) {
      const { workerId, signal } = lease
      reachFailpoint('execute.before_start')
      try {
        const begun = await begin({ workerId, signal })
        reachFailpoint('execute.after_start')
        return begun
      } catch (error) {
        if (errorCode(error) !== sqlState.workerGivenUp || shutdown.aborted) throw error
        await sleep(returnMilliseconds)
      }
    }
  }

  return {
    get hasUnanswered() {
      return statements.hasUnanswered
    },

    take: () =>
      underIdentity(async (identity) => {
        const row = await statements.take(identity)
        if (row === null) return null
        const { begun_run: run, language, submission_id: submission } = row
        return {
          job: {
            id: String(row.job_id),
            task_id: row.task_id,
            payload: { submission, language, run },
          },
          attempt: toAttempt(row, { submission, run, identity, language }),
        }
      }),

    async start(job) {
      const { submission } = job
      // A job of no language, or of one that is not run here, is not begun.
      const language = listOffered(executor).find((name) => name === job.language) ?? null
      for (;;) {
        try {
          return await underIdentity(async (identity) => {
            // What began under an earlier id is lost with that, and two attempts never have the same.
            const run = createId()
            const row = await statements.start(identity, { submission, run }, language)
            if (row === undefined || language === null) return null
            return toAttempt(row, { submission, run, language, identity })
          })
        } catch (error) {
          // Another start came first: next time it runs elsewhere or has ended.
          if (errorCode(error) !== sqlState.uniqueViolation) throw error
        }
      }
    },
  }
}

function toAttempt(
  row: StartedRow,
  known: Pick<Attempt, 'submission' | 'run' | 'identity' | 'language'>,
): Attempt {
  return {
    ...known,
    version: row.version,
    // Null when the row was removed by hand: no cache is shared.
    accountId: row.account_id ?? known.submission,
    code: row.code,
    stdin: row.stdin,
    expectedStdout: row.expected_stdout,
    detail: row.detail,
    totalSeconds: row.total_seconds ?? usualTotalSeconds,
  }
}
