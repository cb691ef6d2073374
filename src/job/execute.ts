// The task 'execute': from a waiting submission to a finished one. Everything that the database must know happens in
// two statements, one before the run and one after; while the program runs no transaction is open.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import * as v from 'valibot'
import { errorCode, json, sqlState } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { ExecutionInterrupted, ExecutionStarted, Metadata } from '#event'
import { languages, SandboxError } from '#executor'
import type { Executor, Language, Limits } from '#executor'
import type { Logger } from '#log'
import { crashPoint } from './crash-point.ts'
import { describeLimits } from './limits.ts'
import { LeaseExpiredError } from './liveness.ts'
import type { Claim } from './liveness.ts'
import { maxLosses } from './losses.ts'
import { untilAvailable } from './retry.ts'
import { describeOutcome } from './verdict.ts'

/** What the task works with. */
export interface ExecuteDependencies {
  readonly database: Database
  readonly executor: Executor
  readonly limits: Readonly<Record<Language, Limits>>
  readonly log: Logger
  readonly lease: Claim
  /** Fires when the process must give its runs back at once. */
  readonly shutdown: AbortSignal
  /** Called when no slot is left that can be trusted: a worker that fails every run must not take another. */
  readonly onExhausted?: () => void
}

// How long a worker that was given up takes to notice and to come back under a new id.
const returnMilliseconds = 200

/** SQLSTATE of runledger.start_execution: the others have given this worker up. */
const workerGivenUp = 'RL005'

/** What the queue hands over. It comes from the database, so it is looked at before it is believed. */
const payloadSchema = v.object({ submission: v.pipe(v.string(), v.uuid()) })

/** One attempt that has begun. */
interface Attempt {
  readonly submission: string
  /** The version of its execution.started: the fencing token. */
  readonly version: number
  /** Under which id it was begun, and the signal that says when that id is no longer ours. */
  readonly claim: Claim
  readonly language: Language
  /** Null when the body is gone. */
  readonly code: Buffer | null
  readonly stdin: Buffer
  readonly expectedStdout: Buffer | null
}

/** Creates the task. It resolves whatever becomes of the run: the log, not the queue, decides what comes next. */
export function createExecuteTask(
  dependencies: ExecuteDependencies,
): (payload: unknown) => Promise<void> {
  const { log } = dependencies
  const running = new Map<string, Promise<void>>()

  return async (payload) => {
    const parsed = v.safeParse(payloadSchema, payload)
    if (!parsed.success) {
      log.error({ issues: v.flatten(parsed.issues) }, 'job.poisoned')
      return
    }
    const { submission } = parsed.output
    // A second job of a submission that this very process is running must not take its attempt away; nor may it be
    // dropped: it is the one that counts if others have given that attempt up.
    while (running.has(submission)) await running.get(submission)?.catch(() => {})
    const work = executeOnce(dependencies, submission).finally(() => running.delete(submission))
    running.set(submission, work)
    await work
  }
}

async function executeOnce(dependencies: ExecuteDependencies, submission: string): Promise<void> {
  const attempt = await startAttempt(dependencies, submission)
  if (attempt !== null) await runAttempt(dependencies, attempt)
}

async function startAttempt(
  dependencies: ExecuteDependencies,
  submission: string,
): Promise<Attempt | null> {
  const { database, executor, limits, log } = dependencies
  const [known] = await untilAvailable(
    () => database`select language from runledger.result where id = ${submission}`,
    log,
  )
  const language = languages.find((name) => name === known?.['language'])
  if (language === undefined) {
    log.error({ submission, language: known?.['language'] }, 'job.poisoned')
    return null
  }
  // One id for all repetitions of the statement: an attempt that began although the answer was lost is not a second one.
  const run = uuidv7()
  for (;;) {
    const { workerId, signal } = dependencies.lease
    const data: ExecutionStarted['data'] = {
      run,
      worker: workerId,
      host: hostname(),
      language,
      runtime: executor.runtimes[language].version,
      limits: describeLimits(limits[language]),
      isolation: executor.isolation,
    }
    crashPoint('execute.before_start')
    try {
      const [row] = await untilAvailable(
        () => database`
          select * from runledger.start_execution(
            ${submission}, ${workerId}, ${schemaVersion}, ${json(database, data)}, ${describeActor(database, workerId)}
          )`,
        log,
      )
      crashPoint('execute.after_start')
      if (row === undefined) return null
      return {
        submission,
        version: row['version'] as number,
        claim: { workerId, signal },
        language,
        code: row['code'] as Buffer | null,
        stdin: row['stdin'] as Buffer,
        expectedStdout: row['expected_stdout'] as Buffer | null,
      }
    } catch (error) {
      if (errorCode(error) !== workerGivenUp || dependencies.shutdown.aborted) throw error
      await sleep(returnMilliseconds)
    }
  }
}

async function runAttempt(dependencies: ExecuteDependencies, attempt: Attempt): Promise<void> {
  const { database, executor, shutdown, log } = dependencies
  const { submission, language, code, stdin, claim } = attempt
  const run = { submission, language, version: attempt.version }
  let outcome
  try {
    if (code === null) throw new SandboxError('body.read', 'the code is gone')
    outcome = await executor.execute(
      { language, code, stdin },
      AbortSignal.any([claim.signal, shutdown]),
    )
  } catch (error) {
    log.error({ ...run, err: error }, 'execution.interrupted')
    if (executor.slots === 0) dependencies.onExhausted?.()
    await interrupt(dependencies, attempt, describeLoss(error, dependencies))
    return
  }
  const { data, stdout, stderr, compileOutput } = describeOutcome(outcome, attempt.expectedStdout)
  crashPoint('execute.before_complete')
  try {
    await untilAvailable(
      () => database`
        select runledger.complete_execution(
          ${submission}, ${attempt.version}, ${schemaVersion}, ${json(database, data)},
          ${describeActor(database, claim.workerId)}, ${stdout}, ${stderr}, ${compileOutput}
        )`,
      log,
    )
  } catch (error) {
    if (!(await isOurCompletion(dependencies, attempt, error))) return
  }
  crashPoint('execute.after_complete')
  log.info(
    { ...run, verdict: data.verdict, run: data.run, compile: data.compile },
    'execution.completed',
  )
}

async function interrupt(
  dependencies: ExecuteDependencies,
  attempt: Attempt,
  data: ExecutionInterrupted['data'],
): Promise<void> {
  const { database, log } = dependencies
  crashPoint('execute.before_interrupt')
  try {
    await untilAvailable(
      () => database`
        select runledger.interrupt_execution(
          ${attempt.submission}, ${attempt.version}, ${schemaVersion}, ${json(database, data)},
          ${describeActor(database, attempt.claim.workerId)}, ${maxLosses}
        )`,
      log,
    )
    crashPoint('execute.after_interrupt')
  } catch (error) {
    // Given back already: by us, and the answer was lost, or by the sweep.
    if (errorCode(error) !== sqlState.uniqueViolation) throw error
    log.warn({ submission: attempt.submission, version: attempt.version }, 'execution.fenced')
  }
}

function describeLoss(
  error: unknown,
  { shutdown, executor }: ExecuteDependencies,
): ExecutionInterrupted['data'] {
  if (shutdown.aborted) return { reason: 'shutdown', spends_attempt: false }
  if (error instanceof LeaseExpiredError) return { reason: 'lease_expired', spends_attempt: false }
  if (!(error instanceof SandboxError)) {
    return { reason: 'sandbox_failed', spends_attempt: true, message: 'unexpected failure' }
  }
  return {
    reason: 'sandbox_failed',
    // It never had a slot: that says nothing of the program.
    spends_attempt: !(error.step === 'slot.acquire' && executor.slots === 0),
    step: error.step,
    message: error.message,
  }
}

/**
 * Tells the completion that was committed although its answer was lost from one that was refused because others had
 * ended the attempt, whose result is dropped. Only the holder of the version can complete right after it.
 */
async function isOurCompletion(
  { database, log }: ExecuteDependencies,
  { submission, version }: Attempt,
  error: unknown,
): Promise<boolean> {
  if (errorCode(error) !== sqlState.uniqueViolation) throw error
  const [row] = await untilAvailable(
    () => database`select version, status from runledger.result where id = ${submission}`,
    log,
  )
  if (row?.['version'] === version + 1 && row['status'] === 'completed') return true
  log.warn({ submission, version }, 'execution.fenced')
  return false
}

function describeActor(database: Database, workerId: string): ReturnType<typeof json> {
  const caused: Metadata = { actor: { worker: workerId } }
  return json(database, caused)
}
