// The two statements that begin attempts, and what they tell the log of this worker.
import { hostname } from 'node:os'
import { createBatch, hadNoEffect, isUnavailable } from '#database'
import { abilities, listLacks } from '#detail'
import { schemaVersion } from '#event'
import type { ExecutionStarted, Metadata } from '#event'
import type { Executor } from '#executor'
import { createId } from '#id'
import { languages } from '#language'
import type { Language } from '#language'
import type { WorkerIdentity } from '#lease'
import { createQueueFront } from '#queue'
import { untilAvailable } from '#retry'
import type { Attempt, AttemptDependencies } from './attempt.ts'
import { describeLimits } from './limits.ts'
import { createUnansweredRuns } from './unanswered-runs.ts'

/** Jobs in one statement. Together four cost PostgreSQL a quarter less, and more of them no less (docs/decisions/0004). */
const mostTaken = 8

type Program = Pick<ExecutionStarted['data'], 'runtime' | 'limits'>

/** A row of runledger.start_execution. */
export interface StartedRow {
  readonly version: number
  readonly account_id: string | null
  readonly code: Buffer | null
  readonly stdin: Buffer
  readonly expected_stdout: Buffer | null
  readonly detail: Buffer | null
  /** Null: its key is gone. */
  readonly total_seconds: number | null
}

/** A row of runledger.take_several. */
export interface TakenRow extends StartedRow {
  readonly begun_run: string
  readonly job_id: number
  readonly task_id: number
  readonly submission_id: string
  readonly language: Language
  readonly due_at: Date | null
}

/** Its last one when nothing more waits. */
interface EmptyRow {
  readonly begun_run: null
  readonly due_at: null
}

export interface StartStatements {
  /** True while an answer to a start is lost: `take` finds it. */
  readonly hasUnanswered: boolean
  /**
   * Takes the queue's first job and begins it; null: none waits. What is asked at once goes together (#database, batch.ts).
   * Safe to repeat: the next statement seeks unanswered runs.
   */
  take(identity: WorkerIdentity): Promise<TakenRow | null>
  /**
   * Begins a job that was handed out. The same run on every try, so that a lost answer begins no second attempt.
   * @param language null: the log makes the job anew.
   */
  start(
    identity: WorkerIdentity,
    attempt: Pick<Attempt, 'submission' | 'run'>,
    language: Language | null,
  ): Promise<StartedRow | undefined>
}

/** @param begunIds the runs that this process has under way; second jobs of theirs are not begun. */
export function createStartStatements(
  dependencies: AttemptDependencies,
  begunIds: Iterable<string>,
): StartStatements {
  const { database, executor, log } = dependencies
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

  const batchOf = memoize((worker: string) =>
    createBatch<null, TakenRow | null>({
      run: async ({ length }) => {
        const rows = await takeRows(worker, length)
        // Fewer without a null are large: the other slots ask again.
        return rows.at(-1) === null ? Array.from({ length }, (_, n) => rows[n] ?? null) : rows
      },
      // Beside each other they meet at the queue's head.
      statements: 2,
      items: mostTaken,
    }),
  )

  /**
   * At most so many, and null after the last one when nothing more waits.
   * @throws when several had no effect together: what stood in their way would do so again.
   */
  async function takeRows(worker: string, count: number): Promise<readonly (TakenRow | null)[]> {
    const tried = unanswered.takeAll()
    const isRepeated = (error: unknown): boolean =>
      isUnavailable(error) && (count === 1 || !hadNoEffect(error))
    let found = 0
    try {
      const rows = await untilAvailable(() => takeOnce(worker, count, tried), log, isRepeated)
      for (const row of rows) if (row !== null && tried.delete(row.begun_run)) found += 1
      return rows
    } finally {
      unanswered.giveBack(tried, found > 0)
    }
  }

  /** @param tried all runs whose start has no answer yet. */
  async function takeOnce(
    worker: string,
    count: number,
    tried: Map<string, number>,
  ): Promise<readonly (TakenRow | null)[]> {
    const { data, actor } = describeWorker(worker)
    const runs = Array.from({ length: count }, () => createId())
    const earlier = [...tried.keys()]
    const { since } = front
    for (const run of runs) tried.set(run, Number.POSITIVE_INFINITY)
    const forget = (): void => {
      for (const run of runs) tried.delete(run)
    }
    try {
      const rows = await database<(TakenRow | EmptyRow)[]>`
        select * from runledger.take_several(
          ${worker}, ${runs}::text[], ${schemaVersion}, ${data}::text::jsonb, ${describePrograms(executor.runtimes)}::text::jsonb,
          ${actor}::text::jsonb, ${earlier}::text[], ${since}, ${[...begunIds]}::text[], true, ${does}::text[]
        )`
      front.note(since, rows[0]?.due_at ?? null)
      forget()
      return rows.map((row) => (row.begun_run === null ? null : row))
    } catch (error) {
      if (hadNoEffect(error)) forget()
      throw error
    }
  }

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
    take: ({ workerId }) => batchOf(workerId)(null),
    start: startRow,
  }
}

/** The languages that this worker runs. */
export function listOffered({ runtimes }: Pick<Executor, 'runtimes'>): Language[] {
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

/** Remembers the last answer alone: a worker hardly ever changes its id, or what it offers. */
function memoize<Key, T>(compute: (key: Key) => T): (key: Key) => T {
  let last: { readonly key: Key; readonly value: T } | undefined
  return (key) => (last = last?.key === key ? last : { key, value: compute(key) }).value
}
