// The task 'execute': from a waiting submission to a finished one. Everything that the database must know happens in
// two statements, one before the run and one after; while the program runs no transaction is open.
import { hostname } from 'node:os'
import * as v from 'valibot'
import { errorCode, json, sqlState } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { ExecutionInterrupted, ExecutionStarted, Metadata } from '#event'
import { languages, SandboxError } from '#executor'
import type { Executor, Language, Limits } from '#executor'
import type { Logger } from '#log'
import { LeaseExpiredError } from './liveness.ts'
import type { Lease } from './liveness.ts'
import { maxLosses } from './losses.ts'
import { untilAvailable } from './retry.ts'
import { describeOutcome } from './verdict.ts'

/** What the task works with. */
export interface ExecuteDependencies {
  readonly database: Database
  readonly executor: Executor
  readonly limits: Readonly<Record<Language, Limits>>
  readonly log: Logger
  readonly lease: Pick<Lease, 'workerId' | 'signal'>
  /** Fires when the process must give its runs back at once. */
  readonly shutdown: AbortSignal
}

/** What the queue hands over. It comes from the database, so it is looked at before it is believed. */
const payloadSchema = v.object({ submission: v.pipe(v.string(), v.uuid()) })

/** One attempt that has begun. */
interface Attempt {
  readonly submission: string
  /** The version of its execution.started: the fencing token. */
  readonly version: number
  readonly language: Language
  readonly code: Buffer
  readonly stdin: Buffer
  readonly expectedStdout: Buffer | null
}

/** Creates the task. It resolves whatever becomes of the run: the log, not the queue, decides what comes next. */
export function createExecuteTask(
  dependencies: ExecuteDependencies,
): (payload: unknown) => Promise<void> {
  const { log } = dependencies
  const running = new Set<string>()

  return async (payload) => {
    const parsed = v.safeParse(payloadSchema, payload)
    if (!parsed.success) {
      log.error({ issues: v.flatten(parsed.issues) }, 'job.poisoned')
      return
    }
    const { submission } = parsed.output
    // A second job of a submission that this very process is running must not take its attempt away.
    if (running.has(submission)) return
    running.add(submission)
    try {
      const attempt = await startAttempt(dependencies, submission)
      if (attempt !== null) await runAttempt(dependencies, attempt)
    } finally {
      running.delete(submission)
    }
  }
}

async function startAttempt(
  dependencies: ExecuteDependencies,
  submission: string,
): Promise<Attempt | null> {
  const { database, executor, limits } = dependencies
  const { workerId } = dependencies.lease
  const [known] = await database`select language from runledger.result where id = ${submission}`
  const language = languages.find((name) => name === known?.['language'])
  if (language === undefined) {
    dependencies.log.error({ submission }, 'job.poisoned')
    return null
  }
  const data: ExecutionStarted['data'] = {
    worker: workerId,
    host: hostname(),
    language,
    runtime: executor.runtimes[language].version,
    limits: limits[language],
    isolation: executor.isolation,
  }
  const [row] = await database`
    select * from runledger.start_execution(
      ${submission}, ${workerId}, ${schemaVersion}, ${json(database, data)}, ${metadata(dependencies)}
    )`
  if (row === undefined) return null
  return {
    submission,
    version: row['version'] as number,
    language,
    code: row['code'] as Buffer,
    stdin: row['stdin'] as Buffer,
    expectedStdout: row['expected_stdout'] as Buffer | null,
  }
}

async function runAttempt(dependencies: ExecuteDependencies, attempt: Attempt): Promise<void> {
  const { database, executor, lease, shutdown, log } = dependencies
  const signal = AbortSignal.any([lease.signal, shutdown])
  const { submission, language, code, stdin } = attempt
  const run = { submission, language, version: attempt.version }
  let outcome
  try {
    outcome = await executor.execute({ language, code, stdin }, signal)
  } catch (error) {
    log.error({ ...run, err: error }, 'execution.interrupted')
    await interrupt(dependencies, attempt, describeLoss(error, dependencies))
    return
  }
  const { data, stdout, stderr, compileOutput } = describeOutcome(outcome, attempt.expectedStdout)
  try {
    await untilAvailable(
      () => database`
        select runledger.complete_execution(
          ${submission}, ${attempt.version}, ${schemaVersion}, ${json(database, data)},
          ${metadata(dependencies)}, ${stdout}, ${stderr}, ${compileOutput}
        )`,
      log,
    )
    log.info(
      { ...run, verdict: data.verdict, run: data.run, compile: data.compile },
      'execution.completed',
    )
  } catch (error) {
    dropIfFenced(dependencies, attempt, error)
  }
}

async function interrupt(
  dependencies: ExecuteDependencies,
  attempt: Attempt,
  data: ExecutionInterrupted['data'],
): Promise<void> {
  const { database } = dependencies
  try {
    await untilAvailable(
      () => database`
        select runledger.interrupt_execution(
          ${attempt.submission}, ${attempt.version}, ${schemaVersion}, ${json(database, data)},
          ${metadata(dependencies)}, ${maxLosses}
        )`,
      dependencies.log,
    )
  } catch (error) {
    dropIfFenced(dependencies, attempt, error)
  }
}

function describeLoss(
  error: unknown,
  { shutdown }: ExecuteDependencies,
): ExecutionInterrupted['data'] {
  if (shutdown.aborted) return { reason: 'shutdown', spends_attempt: false }
  if (error instanceof LeaseExpiredError) return { reason: 'lease_expired', spends_attempt: false }
  if (error instanceof SandboxError) {
    return {
      reason: 'sandbox_failed',
      spends_attempt: true,
      step: error.step,
      message: error.message,
    }
  }
  return { reason: 'sandbox_failed', spends_attempt: true, message: 'unexpected failure' }
}

// Somebody else ended this attempt while we ran it (we were taken for dead): the log refuses ours, and it is dropped.
function dropIfFenced(dependencies: ExecuteDependencies, attempt: Attempt, error: unknown): void {
  if (errorCode(error) !== sqlState.uniqueViolation) throw error
  dependencies.log.warn(
    { submission: attempt.submission, version: attempt.version },
    'execution.fenced',
  )
}

function metadata({ database, lease }: ExecuteDependencies): ReturnType<typeof json> {
  const caused: Metadata = { actor: { worker: lease.workerId } }
  return json(database, caused)
}
