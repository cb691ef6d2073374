// How an attempt begins: a submission's execution.started stands in the log before its program runs. Mostly the job and
// the start are had with one statement; a job that this cannot do, whatever is wrong with it, is begun by a second one.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import * as v from 'valibot'
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { ExecutionStarted, Metadata } from '#event'
import type { Executor } from '#executor'
import { languages } from '#language'
import type { Language, Limits } from '#language'
import type { Logger } from '#log'
import type { Claim } from '#lease'
import { passMilestone } from '#milestone'
import { createQueueFront } from '#queue'
import { untilAvailable } from '#retry'
import { describeLimits } from './limits.ts'
import { createLostRuns } from './lost-runs.ts'

/** What beginning needs. */
export interface AttemptDependencies {
  readonly database: Database
  readonly executor: Executor
  readonly limits: Readonly<Record<Language, Limits>>
  readonly log: Logger
  readonly lease: Claim
  /** Fires when the process must give its runs back at once. */
  readonly shutdown: AbortSignal
}

/** What the queue hands over. It comes from the database, so it is looked at before it is believed. */
export const jobSchema = v.object({
  submission: v.pipe(v.string(), v.uuid()),
  language: v.nullish(v.string()),
  /** The attempt that was begun when the job was taken; one that waits in the queue has none. */
  run: v.optional(v.string()),
})
export type Job = v.InferOutput<typeof jobSchema>

/** One attempt that has begun. */
export interface Attempt {
  readonly submission: string
  /** Its own id. */
  readonly run: string
  /** The version of its execution.started: the fencing token. */
  readonly version: number
  /** Under which id it was begun, and the signal that says when that id is no longer ours. */
  readonly claim: Claim
  /** The account whose submission it is. */
  readonly accountId: string
  readonly language: Language
  /** Null when the body is gone. */
  readonly code: Buffer | null
  readonly stdin: Buffer
  readonly expectedStdout: Buffer | null
}

/** A row of the queue as graphile-worker takes it, and the attempt that was begun with it. */
export interface Taken {
  readonly job: { readonly id: string; readonly task_id: number; readonly payload: Job }
  readonly attempt: Attempt
}

/** What execution.started says of how a language is run. */
type Program = Pick<ExecutionStarted['data'], 'runtime' | 'limits'>

/** A row of runledger.start_execution. */
interface StartedRow {
  readonly version: number
  readonly account_id: string | null
  readonly code: Buffer | null
  readonly stdin: Buffer
  readonly expected_stdout: Buffer | null
}

/** A row of runledger.take_execution. */
interface TakenRow extends StartedRow {
  readonly begun_run: string
  readonly job_id: number
  readonly task_id: number
  readonly submission_id: string
  readonly language: Language
  readonly due_at: Date | null
}

/** Begins attempts for one worker. */
export interface Starter {
  /** True while an attempt may have begun whose answer was lost: `take` finds it. */
  readonly hasLost: boolean
  /**
   * Takes the next job and begins its attempt.
   * @param held the runs that this process has under way: a second job of one of their submissions is none to begin.
   * @returns null when nothing waits.
   * @throws when the job that comes next needs `start`; then none was taken.
   */
  take(held: Iterable<string>): Promise<Taken | null>
  /** Begins the attempt of a job that was taken. @returns null when there is nothing to do (any more). */
  start(job: Job): Promise<Attempt | null>
}

// How long a worker that was given up takes to notice and to come back under a new id.
const returnMilliseconds = 200

/** SQLSTATE of runledger.start_execution: the others have given this worker up. */
const workerGivenUp = 'RL005'

/** Creates it. */
export function createStarter(dependencies: AttemptDependencies): Starter {
  const { database, executor, log, lease, shutdown } = dependencies
  const host = hostname()
  const lost = createLostRuns()
  const front = createQueueFront()
  // What is the same for every attempt is made into JSON once.
  const offered = listOffered(executor)
  const programs: Partial<Record<Language, Program>> = Object.fromEntries(
    offered.map((name) => [name, describeProgram(dependencies, name)]),
  )
  const programsText = JSON.stringify(programs)
  const describeWorker = memoize((worker: string) => ({
    data: JSON.stringify({ worker, host, isolation: executor.isolation }),
    actor: describeActor(worker),
  }))

  /** Repeats the statement under this worker's next id when its present one was given up. */
  async function underClaim<T>(begin: (claim: Claim) => Promise<T>): Promise<T> {
    for (;;) {
      const { workerId, signal } = lease
      passMilestone('execute.before_start')
      try {
        const begun = await begin({ workerId, signal })
        passMilestone('execute.after_start')
        return begun
      } catch (error) {
        if (errorCode(error) !== workerGivenUp || shutdown.aborted) throw error
        await sleep(returnMilliseconds)
      }
    }
  }

  /** The statement may be repeated: a run whose answer was lost is sought by the next one. */
  async function takeRow(claim: Claim, held: Iterable<string>): Promise<TakenRow | undefined> {
    const sought = lost.claim()
    const take = async (): Promise<readonly TakenRow[]> => {
      const { data, actor } = describeWorker(claim.workerId)
      const run = uuidv7()
      const asked = [...sought.keys()]
      const { since } = front
      sought.set(run, Number.POSITIVE_INFINITY)
      const rows = await database<TakenRow[]>`
        select * from runledger.take_execution(
          ${claim.workerId}, ${run}, ${schemaVersion}, ${data}::text::jsonb, ${programsText}::text::jsonb,
          ${actor}::text::jsonb, ${asked}::text[], ${since}, ${[...held]}::text[]
        )`
      front.note(since, rows[0]?.due_at ?? null)
      sought.delete(run)
      return rows
    }
    const [row] = await untilAvailable(take, log).finally(() => lost.giveBack(sought))
    return row
  }

  /**
   * The same run on every repetition: an attempt that began although the answer was lost is not a second one.
   * @param language null: what is asked for in no language never begins, its job is made anew by the log.
   */
  async function startRow(
    claim: Claim,
    { submission, run }: Pick<Attempt, 'submission' | 'run'>,
    language: Language | null,
  ): Promise<StartedRow | undefined> {
    const program = language === null ? undefined : programs[language]
    const data: ExecutionStarted['data'] = {
      run,
      worker: claim.workerId,
      host,
      language: language ?? '',
      ...(program ?? { runtime: '', limits: {} }),
      isolation: executor.isolation,
    }
    const [row] = await untilAvailable(
      () => database<StartedRow[]>`
        select * from runledger.start_execution(
          ${submission}, ${claim.workerId}, ${schemaVersion}, ${JSON.stringify(data)}::text::jsonb,
          ${describeActor(claim.workerId)}::text::jsonb
        )`,
      log,
    )
    return row
  }

  return {
    get hasLost() {
      return lost.areAny
    },

    take: (held) =>
      underClaim(async (claim) => {
        const row = await takeRow(claim, held)
        if (row === undefined) return null
        const { begun_run: run, language, submission_id: submission } = row
        lost.forget(run)
        return {
          job: {
            id: String(row.job_id),
            task_id: row.task_id,
            payload: { submission, language, run },
          },
          attempt: toAttempt(row, { submission, run, claim, language }),
        }
      }),

    async start(job) {
      const { submission } = job
      // A job of no language, or of one that is not run here, is not begun.
      const language = offered.find((name) => name === job.language) ?? null
      const run = uuidv7()
      for (;;) {
        try {
          return await underClaim(async (claim) => {
            const row = await startRow(claim, { submission, run }, language)
            if (row === undefined || language === null) return null
            return toAttempt(row, { submission, run, language, claim })
          })
        } catch (error) {
          // Another start of it came first: seen again, it runs elsewhere or has ended.
          if (errorCode(error) !== sqlState.uniqueViolation) throw error
        }
      }
    },
  }
}

/** The languages that this worker runs. */
export function listOffered({ runtimes }: Executor): Language[] {
  return languages.filter((name) => name in runtimes)
}

/** Who acts, as JSON. */
export function describeActor(workerId: string): string {
  const caused: Metadata = { actor: { worker: workerId } }
  return JSON.stringify(caused)
}

function describeProgram({ executor, limits }: AttemptDependencies, language: Language): Program {
  return {
    runtime: executor.runtimes[language]?.version ?? 'not installed',
    limits: describeLimits(limits[language]),
  }
}

function toAttempt(
  row: StartedRow,
  known: Pick<Attempt, 'submission' | 'run' | 'claim' | 'language'>,
): Attempt {
  return {
    ...known,
    version: row.version,
    // Null when the record was removed by hand: then nothing is shared with anybody.
    accountId: row.account_id ?? known.submission,
    code: row.code,
    stdin: row.stdin,
    expectedStdout: row.expected_stdout,
  }
}

/** Remembers the last answer alone: a worker changes its id hardly ever. */
function memoize<T>(compute: (key: string) => T): (key: string) => T {
  let last: { readonly key: string; readonly value: T } | undefined
  return (key) => (last = last?.key === key ? last : { key, value: compute(key) }).value
}
