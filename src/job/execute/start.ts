// The statement that starts attempts, and what the log says of this worker.
import { availableParallelism, hostname } from 'node:os'
import { createBatch } from '#database'
import { capabilities } from '#options'
import type { ExecutionStarted, Metadata } from '#event'
import type { Executor } from '#executor'
import { languages, spellLimits } from '#language'
import type { Language, Limits } from '#language'
import type { Attempt, AttemptDependencies } from './attempt.ts'

type Program = Pick<ExecutionStarted['data'], 'runtime' | 'limits'>

/** A job that the worker was handed. */
interface Start {
  readonly worker: string
  readonly submission: string
  /** The same on every try, so that a lost answer begins no second attempt. */
  readonly run: string
  readonly language: Language
}

/** A row of runledger.start. */
type StartedRow = Omit<
  Attempt,
  'run' | 'identity' | 'language' | 'accountId' | 'totalSeconds' | 'cores'
> & {
  readonly accountId: string | null
  /** Null: its key is gone. */
  readonly totalSeconds: number | null
  /** Null: not given. */
  readonly cores: number | null
}

/**
 * Begins an attempt; null: there is nothing to do. What is asked at once goes together (#database, batch.ts).
 * @throws as runledger.start.
 */
export type BeginAttempt = (start: Start) => Promise<StartedRow | null>

/** @param startedIds the runs that this process has under way; second jobs of theirs are not started. */
export function createStart(
  dependencies: AttemptDependencies,
  startedIds: Iterable<string>,
): BeginAttempt {
  const { database, executor } = dependencies
  const host = { host: hostname(), host_cores: availableParallelism() }
  // Made into JSON once, as a worker hardly ever changes what it offers.
  let described: { runtimes: Executor['runtimes']; programs: string } | undefined
  const describePrograms = (runtimes: Executor['runtimes']): string => {
    if (described?.runtimes !== runtimes) {
      const offered = languages.filter((name) => name in runtimes)
      const programs = offered.map((name) => [name, describeProgram(dependencies, name)])
      described = { runtimes, programs: JSON.stringify(Object.fromEntries(programs)) }
    }
    return described.programs
  }

  async function startAll(starts: readonly Start[]): Promise<readonly (StartedRow | null)[]> {
    const worker = starts[0]?.worker ?? ''
    const data = JSON.stringify({ worker, ...host, isolation: executor.isolation })
    const rows = await database<StartedRow[]>`
      select
        submission_id as submission, version, account_id as "accountId", code, stdin, expected_stdout as "expectedStdout",
        detail as options, total_seconds as "totalSeconds", cores, has_webhook as "hasWebhook"
      from runledger.start(
        ${worker}, ${starts.map(({ submission }) => submission)}::uuid[], ${starts.map(({ run }) => run)}::text[],
        ${starts.map(({ language }) => language)}::text[], ${data}::text::jsonb,
        ${describePrograms(executor.runtimes)}::text::jsonb, ${describeActor(worker)}::text::jsonb, ${[...capabilities]}::text[],
        ${[...startedIds]}::text[]
      )`
    const byId = new Map(rows.map((row) => [row.submission, row]))
    return starts.map(({ submission }) => byId.get(submission) ?? null)
  }

  // Those of two workers ids, or two jobs of one submission, go one after the other.
  const run = (starts: readonly Start[]): Promise<readonly (StartedRow | null)[]> => {
    const odd = starts.findIndex(
      ({ worker, submission }, n) =>
        worker !== starts[0]?.worker ||
        starts.slice(0, n).some((earlier) => earlier.submission === submission),
    )
    return startAll(odd === -1 ? starts : starts.slice(0, odd))
  }
  return createBatch({ run, statements: 2, items: 8 })
}

/** As JSON. */
function describeActor(workerId: string): string {
  const caused: Metadata = { actor: { worker: workerId } }
  return JSON.stringify(caused)
}

function describeProgram({ executor, limits }: AttemptDependencies, language: Language): Program {
  return {
    runtime: executor.runtimes[language]?.version ?? 'not installed',
    limits: { ...describeLimits(limits[language]), cores: executor.cores },
  }
}

/** Limits as execution.started and the worker's row spell them; `compile` is null for a language without a compiler. */
export function describeLimits({ compile, run }: Limits): object {
  return { compile: compile && spellLimits(compile), run: spellLimits(run) }
}
