// Starts attempts. execution.started is logged before a program runs; attempts that start at once share a statement.
import { availableParallelism, hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBatch, errorCode, json, sqlState, untilAvailable } from '#database'
import type { Database } from '#database'
import type { Metadata } from '#event'
import type { Executor } from '#executor'
import { reachFailpoint } from '#failpoint'
import { createId } from '#id'
import { languages, spellLimits } from '#language'
import type { Language, Limits } from '#language'
import type { Lease, WorkerIdentity } from '#lease'
import type { Logger } from '#log'
import { capabilities } from '#options'

export interface AttemptDependencies {
  readonly database: Database
  readonly executor: Executor
  readonly limits: Readonly<Record<Language, Limits>>
  readonly log: Logger
  /** `renew` asks at once which state the worker's row wants. */
  readonly lease: WorkerIdentity & Partial<Pick<Lease, 'renew'>>
  /** Fires when the process must requeue its runs. */
  readonly shutdown: AbortSignal
}

/** A row of runledger.start. */
interface Started {
  readonly submission: string
  /** The version of execution.started, which is the fencing token. */
  readonly version: number
  readonly accountId: string
  /** Null when the body is gone. */
  readonly code: Buffer | null
  readonly stdin: Buffer
  readonly expectedStdout: Buffer | null
  /** The options as they are stored. */
  readonly options: Buffer | null
  /** Seconds that all programs of the submission may run together, by the clock. */
  readonly totalSeconds: number
  /** Cores that its programs may use at once, as in execution.started; null when not given. */
  readonly cores: number | null
  /** True when the submission has a webhook. */
  readonly hasWebhook: boolean
}

export interface Attempt extends Started {
  /** The attempt's id. */
  readonly run: string
  /** The worker's id at the start, and the signal that the attempt is no longer ours. */
  readonly identity: WorkerIdentity
  readonly language: Language
}

/** The usual value of a tier, used where the submission's key was removed by hand. */
const usualTotalSeconds = 600

// Within this time a worker that was declared lost is back under a new id, and one that must take no jobs has learned of it.
const returnMilliseconds = 200

/**
 * Creates the function that starts the attempt of a submission whose job this worker has taken. It returns null when there is
 * nothing to do, and `put_back` when the worker must take no jobs.
 * @param startedIds the runs of this process; a second job of one of them is not started. A run is added before its start is
 *   sent, because a second job may come before the answer. The caller removes it at its end.
 */
export function createBegin(
  dependencies: AttemptDependencies,
  startedIds: Set<string>,
): (submission: string, language: string) => Promise<Attempt | 'put_back' | null> {
  const { lease, shutdown, log } = dependencies
  const start = createStart(dependencies, startedIds)

  return async (submission, named) => {
    const language = languages.find((name) => name === named)
    if (language === undefined) return null
    for (;;) {
      // A start under an earlier worker id is lost with that id, and no two attempts have the same run id.
      const run = createId()
      const { workerId: worker, signal } = lease
      reachFailpoint('execute.before_start')
      startedIds.add(run)
      let isStarted = false
      try {
        const row = await untilAvailable(() => start({ worker, submission, run, language }), log)
        reachFailpoint('execute.after_start')
        if (row === null) return null
        isStarted = true
        return { ...row, run, language, identity: { workerId: worker, signal } }
      } catch (error) {
        const code = errorCode(error)
        if (code === sqlState.takesNothing) {
          lease.renew?.()
          await sleep(returnMilliseconds)
          return 'put_back'
        }
        if (code !== sqlState.workerGivenUp && code !== sqlState.uniqueViolation) throw error
        if (shutdown.aborted) return 'put_back'
        // The worker soon has another id. Or another start came first; then the next try finds that the submission runs
        // elsewhere or has ended.
        await sleep(returnMilliseconds)
      } finally {
        if (!isStarted) startedIds.delete(run)
      }
    }
  }
}

/** A job that the worker has taken. */
interface Start {
  readonly worker: string
  readonly submission: string
  /** The same on every try, so that a lost answer starts no second attempt. */
  readonly run: string
  readonly language: Language
}

/**
 * Starts an attempt; null when there is nothing to do. Calls that come at once share a statement (#database, batch.ts).
 * @throws the errors of runledger.start.
 */
export type BeginAttempt = (start: Start) => Promise<Started | null>

/** @param startedIds the runs that this process has under way; a second job of one of them is not started. */
export function createStart(
  dependencies: AttemptDependencies,
  startedIds: Iterable<string>,
): BeginAttempt {
  const { database, executor } = dependencies
  const host = { host: hostname(), host_cores: availableParallelism() }

  async function startAll(starts: readonly Start[]): Promise<readonly (Started | null)[]> {
    const worker = starts[0]?.worker ?? ''
    const data = { worker, ...host, isolation: executor.isolation }
    // Not of all languages, because PostgreSQL would parse 19 kB for each start.
    const programs = starts.map(({ language }) => {
      const runtime = executor.runtimes[language]?.version ?? 'not installed'
      const limits = { ...describeLimits(dependencies.limits[language]), cores: executor.cores }
      return [language, { runtime, limits }]
    })
    const metadata: Metadata = { actor: { worker } }
    const rows = await database<Started[]>`
      select
        submission_id as submission, version, account_id as "accountId", code, stdin,
        expected_stdout as "expectedStdout", detail as options, coalesce(total_seconds, ${usualTotalSeconds}) as "totalSeconds",
        cores, has_webhook as "hasWebhook"
      from runledger.start(
        ${worker}, ${starts.map(({ submission }) => submission)}::uuid[], ${starts.map(({ run }) => run)}::text[],
        ${starts.map(({ language }) => language)}::text[], ${json(database, data)},
        ${json(database, Object.fromEntries(programs))}, ${json(database, Object.keys(executor.runtimes))},
        ${json(database, capabilities)}, ${json(database, metadata)}, ${[...startedIds]}::text[]
      )`
    const byId = new Map(rows.map((row) => [row.submission, row]))
    return starts.map(({ submission }) => byId.get(submission) ?? null)
  }

  // Starts under two worker ids, or two jobs of one submission, go one after the other.
  const run = (starts: readonly Start[]): Promise<readonly (Started | null)[]> => {
    const odd = starts.findIndex(
      ({ worker, submission }, n) =>
        worker !== starts[0]?.worker ||
        starts.slice(0, n).some((earlier) => earlier.submission === submission),
    )
    return startAll(odd === -1 ? starts : starts.slice(0, odd))
  }
  return createBatch({ run, statements: 2, items: 8 })
}

/** Returns limits as execution.started and the worker's row spell them; `compile` is null for a language without a compiler. */
export function describeLimits({ compile, run }: Limits): object {
  return { compile: compile && spellLimits(compile), run: spellLimits(run) }
}
