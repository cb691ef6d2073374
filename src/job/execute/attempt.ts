// Begins attempts: execution.started is logged before a program runs. One statement takes and begins a job; where that
// fails, a second one begins it.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { ExecutionStarted, Metadata } from '#event'
import { abilities, listLacks } from '#detail'
import type { Executor } from '#executor'
import { languages } from '#language'
import type { Language, Limits } from '#language'
import type { Logger } from '#log'
import type { WorkerIdentity } from '#lease'
import { reachFailpoint } from '#failpoint'
import { createId } from '#id'
import { createQueueFront } from '#queue'
import { untilAvailable } from '#retry'
import { describeLimits } from './limits.ts'
import { createUnansweredRuns } from './unanswered-runs.ts'

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
}

/** As graphile-worker takes a job. */
export interface Taken {
  readonly job: { readonly id: string; readonly task_id: number; readonly payload: Job }
  readonly attempt: Attempt
}

type Program = Pick<ExecutionStarted['data'], 'runtime' | 'limits'>

/** A row of runledger.start_execution. */
interface StartedRow {
  readonly version: number
  readonly account_id: string | null
  readonly code: Buffer | null
  readonly stdin: Buffer
  readonly expected_stdout: Buffer | null
  readonly detail: Buffer | null
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
  /** True while an answer to a start is lost: `take` finds it. */
  readonly hasUnanswered: boolean
  /**
   * @param underWay this process's runs; second jobs of theirs are not begun.
   * @returns null when nothing waits.
   * @throws when the next job needs `start`; then none was taken.
   */
  take(underWay: Iterable<string>): Promise<Taken | null>
  /** @returns null when there is nothing to do. */
  start(job: Job): Promise<Attempt | null>
}

// Then a worker that was given up is back under a new id.
const returnMilliseconds = 200

/** SQLSTATE of runledger.start_execution: others have given this worker up. */
const workerGivenUp = 'RL005'

export function createStarter(dependencies: AttemptDependencies): Starter {
  const { database, executor, log, lease, shutdown } = dependencies
  const host = hostname()
  const unanswered = createUnansweredRuns()
  const front = createQueueFront()
  const lacks = listLacks(executor)
  const does = abilities.filter((name) => !lacks.includes(name))
  // What is the same for most attempts is made into JSON once.
  const describePrograms = memoize((runtimes: Executor['runtimes']) =>
    JSON.stringify(
      Object.fromEntries(
        listOffered({ runtimes }).map((name) => [name, describeProgram(dependencies, name)]),
      ),
    ),
  )
  const describeWorker = memoize((worker: string) => ({
    data: JSON.stringify({ worker, host, isolation: executor.isolation }),
    actor: describeActor(worker),
  }))

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
        if (errorCode(error) !== workerGivenUp || shutdown.aborted) throw error
        await sleep(returnMilliseconds)
      }
    }
  }

  /** Safe to repeat: the next statement seeks unanswered runs. */
  async function takeRow(
    identity: WorkerIdentity,
    underWay: Iterable<string>,
  ): Promise<TakenRow | undefined> {
    const tried = unanswered.takeAll()
    const take = async (): Promise<readonly TakenRow[]> => {
      const { data, actor } = describeWorker(identity.workerId)
      const run = createId()
      const earlier = [...tried.keys()]
      const { since } = front
      tried.set(run, Number.POSITIVE_INFINITY)
      const rows = await database<TakenRow[]>`
        select * from runledger.take_execution(
          ${identity.workerId}, ${run}, ${schemaVersion}, ${data}::text::jsonb, ${describePrograms(executor.runtimes)}::text::jsonb,
          ${actor}::text::jsonb, ${earlier}::text[], ${since}, ${[...underWay]}::text[], true, ${does}::text[]
        )`
      front.note(since, rows[0]?.due_at ?? null)
      tried.delete(run)
      return rows
    }
    const [row] = await untilAvailable(take, log).finally(() => unanswered.giveBack(tried))
    return row
  }

  /**
   * The same run on every try, so that a lost answer begins no second attempt.
   * @param language null: the log makes the job anew.
   */
  async function startRow(
    identity: WorkerIdentity,
    { submission, run }: Pick<Attempt, 'submission' | 'run'>,
    language: Language | null,
  ): Promise<StartedRow | undefined> {
    const program = language === null ? undefined : describeProgram(dependencies, language)
    const data: ExecutionStarted['data'] = {
      run,
      worker: identity.workerId,
      host,
      language: language ?? '',
      ...(program ?? { runtime: '', limits: {} }),
      isolation: executor.isolation,
    }
    const [row] = await untilAvailable(
      () => database<StartedRow[]>`
        select * from runledger.start_execution(
          ${submission}, ${identity.workerId}, ${schemaVersion}, ${JSON.stringify(data)}::text::jsonb,
          ${describeActor(identity.workerId)}::text::jsonb, offers => ${listOffered(executor)}::text[], does => ${does}::text[]
        )`,
      log,
    )
    return row
  }

  return {
    get hasUnanswered() {
      return unanswered.areAny
    },

    take: (underWay) =>
      underIdentity(async (identity) => {
        const row = await takeRow(identity, underWay)
        if (row === undefined) return null
        const { begun_run: run, language, submission_id: submission } = row
        unanswered.forget(run)
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
      const run = createId()
      for (;;) {
        try {
          return await underIdentity(async (identity) => {
            const row = await startRow(identity, { submission, run }, language)
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

/** The languages that this worker runs. */
function listOffered({ runtimes }: Pick<Executor, 'runtimes'>): Language[] {
  return languages.filter((name) => name in runtimes)
}

/** As JSON. */
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
  }
}

/** Remembers the last answer alone: a worker hardly ever changes its id, or what it offers. */
function memoize<Key, T>(compute: (key: Key) => T): (key: Key) => T {
  let last: { readonly key: Key; readonly value: T } | undefined
  return (key) => (last = last?.key === key ? last : { key, value: compute(key) }).value
}
