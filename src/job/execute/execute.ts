// The door to running submissions, the task 'execute': from an attempt that has begun (attempt.ts) to its end in the log.
// Everything that the database must know happens in two statements, one before the run and one after; while the program
// runs no transaction is open. How a job comes here #queue tells.
import * as v from 'valibot'
import { errorCode, sqlState } from '#database'
import { schemaVersion } from '#event'
import type { ExecutionInterrupted } from '#event'
import { SandboxError } from '#executor'
import type { Outcome } from '#executor'
import type { Language } from '#language'
import { LeaseExpiredError } from '#lease'
import { passMilestone } from '#milestone'
import { untilAvailable } from '#retry'
import { maxLosses } from '#sweep'
import { createStarter, describeActor, jobSchema, listOffered } from './attempt.ts'
import type { Attempt, AttemptDependencies, Taken } from './attempt.ts'
import type { Suspension } from './suspension.ts'
import { describeOutcome } from './verdict.ts'

export { describeLimits } from './limits.ts'
export { createSuspension } from './suspension.ts'

/** What the task works with. */
export interface ExecuteDependencies extends AttemptDependencies {
  /** After its sandbox failed a worker takes no job until a program of its own has run well; never, when left out. */
  readonly suspension?: Suspension
  /** Whether an operator wants nothing to be taken; never, when left out. */
  readonly isPaused?: () => boolean
  /**
   * Called when this process should end: no slot is left that can be trusted, and a worker that fails every run must not
   * take another; or an attempt can be neither ended nor given back, so that only the end of its worker frees it.
   */
  readonly onExhausted?: (reason: string) => void
}

/** The task and what belongs to it. */
export interface ExecuteTask {
  /** Of these it takes jobs. */
  readonly languages: readonly Language[]
  /** Takes the next job of the queue and begins its attempt; the row is then to be passed to `run`. Null: none, for now. */
  take(): Promise<Taken['job'] | null>
  /** True while it takes none, whatever waits. */
  readonly isSuspended: boolean
  /** Resolves as soon as the next program may run: what becomes of this one may still be on its way into the log. */
  run(payload: unknown): Promise<void>
  /** Resolves when everything is in the log. */
  settled(): Promise<void>
}

/** SQLSTATE of conclude_execution and interrupt_execution: a crash of the database has lost the start. */
const startLost = 'RL006'

/** Creates the task. It resolves whatever becomes of the run: the log, not the queue, decides what comes next. */
export function createExecuteTask(dependencies: ExecuteDependencies): ExecuteTask {
  const { log, executor } = dependencies
  const starter = createStarter(dependencies)
  /** Attempts that `take` has begun and `run` has not yet been given, by their ids. */
  const taken = new Map<string, Attempt>()
  const running = new Map<string, Promise<void>>()
  const ending = new Set<Promise<void>>()
  /** Ids of attempts that have begun here and whose end is not in the log yet. */
  const held = new Set<string>()

  /** The attempt of a job that was handed out, begun with it or now. Null: there is nothing to do. */
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
    // A second job of a submission that this very process is running must not take its attempt away; nor may it be
    // dropped: it is the one that counts if others have given that attempt up.
    while (running.has(submission)) await running.get(submission)
    return starter.start(parsed.output)
  }

  return {
    languages: listOffered(executor),

    get isSuspended() {
      if (dependencies.suspension?.suspended === true) return true
      // What it has begun without knowing it, it runs all the same.
      return dependencies.isPaused?.() === true && !starter.hasLost
    },

    async take() {
      const begun = await starter.take(held)
      if (begun === null) return null
      held.add(begun.attempt.run)
      taken.set(begun.attempt.run, begun.attempt)
      return begun.job
    },

    async run(payload) {
      const attempt = await findAttempt(payload)
      if (attempt === null) return
      held.add(attempt.run)
      const ran = execute(dependencies, attempt)
      const ended = ran
        .then((outcome) => record(dependencies, attempt, outcome))
        .catch((error: unknown) => {
          log.error({ submission: attempt.submission, err: error }, 'execution.stuck')
          dependencies.onExhausted?.('an attempt cannot be ended')
        })
        .finally(() => {
          ending.delete(ended)
          held.delete(attempt.run)
          if (running.get(attempt.submission) === ended) running.delete(attempt.submission)
        })
      ending.add(ended)
      running.set(attempt.submission, ended)
      await ran
      // A database that is slow to take results in must not be given ever more of them.
      while (ending.size > 2 * executor.slots) await Promise.race(ending)
    },

    async settled() {
      await Promise.all(ending)
    },
  }
}

/** What a run came to, or why it came to nothing. */
type Ran = { readonly outcome: Outcome } | { readonly loss: ExecutionInterrupted['data'] }

/** Never rejects. */
async function execute(dependencies: ExecuteDependencies, attempt: Attempt): Promise<Ran> {
  const { executor, shutdown, log } = dependencies
  const { submission, accountId, language, code, stdin, claim, version } = attempt
  try {
    if (code === null) throw new SandboxError('body.read', 'the code is gone')
    const signal = AbortSignal.any([claim.signal, shutdown])
    const outcome = await executor.execute({ language, code, stdin, cacheScope: accountId }, signal)
    dependencies.suspension?.noteSuccess()
    return { outcome }
  } catch (error) {
    log.error({ submission, language, version, err: error }, 'execution.interrupted')
    if (executor.slots === 0) dependencies.onExhausted?.('no slot left')
    if (code !== null && !claim.signal.aborted && !shutdown.aborted)
      dependencies.suspension?.noteFailure(language, error)
    return { loss: describeLoss(error, dependencies) }
  }
}

async function record(
  dependencies: ExecuteDependencies,
  attempt: Attempt,
  ran: Ran,
): Promise<void> {
  if ('loss' in ran) {
    await interrupt(dependencies, attempt, ran.loss)
    return
  }
  try {
    await complete(dependencies, attempt, ran.outcome)
  } catch (error) {
    // A bug of ours or of the database's. Its job is gone, so it must go back the same way as a run that was lost.
    dependencies.log.error({ submission: attempt.submission, err: error }, 'execution.interrupted')
    await interrupt(dependencies, attempt, describeLoss(error, dependencies))
  }
}

async function complete(
  { database, log }: ExecuteDependencies,
  attempt: Attempt,
  outcome: Outcome,
): Promise<void> {
  const { submission, language, version, claim, run } = attempt
  const { data, stdout, stderr, compileOutput } = describeOutcome(outcome, attempt.expectedStdout)
  const [dataText, actor] = [JSON.stringify(data), describeActor(claim.workerId)]
  passMilestone('execute.before_complete')
  try {
    await untilAvailable(
      () => database`
        call runledger.conclude_execution(
          ${submission}, ${version}, ${schemaVersion}, ${dataText}::text::jsonb, ${actor}::text::jsonb,
          ${stdout}, ${stderr}, ${compileOutput}, ${run}
        )`,
      log,
    )
  } catch (error) {
    const committed = errorCode(error) !== startLost && (await isOurs(database, attempt, log))
    if (!committed) {
      if (!isFenced(error)) throw error
      log.warn({ submission, version, lost: errorCode(error) === startLost }, 'execution.fenced')
      return
    }
  }
  passMilestone('execute.after_complete')
  log.info(
    {
      submission,
      language,
      version,
      account: attempt.accountId,
      worker: claim.workerId,
      queued_seconds: Math.max(0, (timeOfId(run) - timeOfId(submission)) / 1000),
      verdict: data.verdict,
      run: data.run,
      compile: data.compile,
    },
    'execution.completed',
  )
}

/** When an id of version 7 was made, in milliseconds: a submission's when it came, an attempt's when it began. */
function timeOfId(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16)
}

async function interrupt(
  { database, log }: ExecuteDependencies,
  { submission, version, claim, run }: Attempt,
  data: ExecutionInterrupted['data'],
): Promise<void> {
  passMilestone('execute.before_interrupt')
  try {
    await untilAvailable(
      () => database`
        select runledger.interrupt_execution(
          ${submission}, ${version}, ${schemaVersion}, ${JSON.stringify(data)}::text::jsonb,
          ${describeActor(claim.workerId)}::text::jsonb, ${maxLosses}, ${run}
        )`,
      log,
    )
    passMilestone('execute.after_interrupt')
  } catch (error) {
    // Given back already, by us or by the sweep; or a crash has lost its start.
    if (!isFenced(error)) throw error
    log.warn({ submission, version }, 'execution.fenced')
  }
}

/**
 * True when the log has gone on without this attempt: others have ended it, or the database lost its start in a crash.
 * Either way the submission is in other hands, or back in the queue.
 */
function isFenced(error: unknown): boolean {
  const code = errorCode(error)
  return code === sqlState.uniqueViolation || code === startLost
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
async function isOurs(
  database: ExecuteDependencies['database'],
  { submission, version }: Attempt,
  log: ExecuteDependencies['log'],
): Promise<boolean> {
  const [row] = await untilAvailable(
    () => database<{ version: number; status: string }[]>`
      select version, status from runledger.result where id = ${submission}`,
    log,
  )
  return row?.version === version + 1 && row.status === 'completed'
}
