// The door to running submissions, the task 'execute': from a begun attempt (attempt.ts) to its end in the log. No
// transaction is open in between. #queue says how a job comes here.
import * as v from 'valibot'
import { unlessAborted } from '#abort'
import { errorCode, sqlState } from '#database'
import { schemaVersion } from '#event'
import type { ExecutionInterrupted } from '#event'
import { nothingDone, SandboxError } from '#executor'
import type { BlobCache, ExecutionRequest, Executor, Outcome } from '#executor'
import type { Language, Limits } from '#language'
import type { Logger } from '#log'
import { LeaseExpiredError } from '#lease'
import { reachFailpoint } from '#failpoint'
import { untilAvailable } from '#retry'
import { maxLosses } from '#sweep'
import { decodeDetail } from '#detail'
import type { Detail } from '#detail'
import { createStarter, describeActor, jobSchema } from './attempt.ts'
import type { Attempt, AttemptDependencies, Taken } from './attempt.ts'
import type { Suspension } from './suspension.ts'
import { describeOutcome } from './completion.ts'
import { conclude } from './conclude.ts'
import { openBlobs, readGiven } from './named-blobs.ts'
import type { NamedBlobs } from './named-blobs.ts'
import { judgeTests } from './tests.ts'
import type { JudgedTests } from './tests.ts'
import type { Expectation } from './verdict.ts'
import { createCancels } from './cancel.ts'
import type { Cancels } from './cancel.ts'
import { createTellers } from './teller.ts'
import type { Teller } from './teller.ts'

export { describeLimits } from './limits.ts'
export { fetchBlob } from './named-blobs.ts'
export { createSuspension } from './suspension.ts'

export interface ExecuteDependencies extends AttemptDependencies {
  /** After a sandbox failure no job is taken until a trial has passed; never, when left out. */
  readonly suspension?: Suspension
  /** An operator's pause; never, when left out. */
  readonly isPaused?: () => boolean
  /** Where blobs are read; a submission that names one is given back, when left out. */
  readonly blobs?: BlobCache
  /**
   * Called when this process should end: no slot can be trusted, or an attempt can be neither ended nor given back, so
   * only the worker's end frees it.
   */
  readonly onExhausted?: (reason: string) => void
}

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

/** SQLSTATE of conclude_execution and interrupt_execution: a database crash has lost the start. */
const startLost = 'RL006'

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
      const ran = execute(dependencies, attempt, cancels, teller)
      const ended = ran
        .then((outcome) => record(dependencies, attempt, outcome))
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

/** `tests`: null without. */
type Ran =
  | {
      readonly outcome: Outcome
      readonly tests: JudgedTests | null
      readonly expected: Expectation
      readonly blobs: NamedBlobs['count']
      readonly asksFiles: boolean
      readonly wasStopped: boolean
    }
  | { readonly loss: ExecutionInterrupted['data'] }

/** Never rejects. */
async function execute(
  dependencies: ExecuteDependencies,
  attempt: Attempt,
  cancels: Cancels,
  teller: Teller,
): Promise<Ran> {
  const { executor, shutdown, log } = dependencies
  const { submission, language, code, identity, version } = attempt
  const { signal: stop, forget } = cancels.watch(submission)
  try {
    if (code === null) throw new SandboxError('body.read', 'the code is gone')
    const signal = AbortSignal.any([identity.signal, shutdown])
    const { checker, tests = null, stopOnFailure, ...rest } = decodeDetail(attempt.detail)
    const { stdinBlob, expectedStdoutBlob, ...detail } = rest
    const blobs = openBlobs(dependencies.blobs, attempt.accountId, AbortSignal.any([signal, stop]))
    const judged =
      tests &&
      judgeTests({
        tests,
        checker,
        stopsOnFailure: stopOnFailure === true,
        scope: attempt.accountId,
        blobs,
        stop,
      })
    if (checker?.type === 'program') demand(executor, checker.language)
    const named = {
      ...(stdinBlob && { stdinBlob }),
      ...(expectedStdoutBlob && { expectedStdoutBlob }),
    }
    const given = await unlessAborted(readGiven(blobs, { ...attempt, ...named }), stop)
    const expected = {
      stdout: given?.expectedStdout ?? null,
      // A program judges tests alone, and does so while they run.
      checker: checker?.type === 'program' ? undefined : checker,
    }
    const request = given && {
      ...describeExecution(attempt, code, detail, dependencies.limits[language]),
      stdin: given.stdin,
      ...(judged && { runs: teller.follow(judged) }),
      stop,
      live: teller.live,
    }
    const outcome = request === undefined ? nothingDone : await executor.execute(request, signal)
    if (!stop.aborted) dependencies.suspension?.noteSuccess()
    const asksFiles = detail.outputFiles !== undefined
    const counted = blobs.count
    return { outcome, tests: judged, expected, blobs: counted, asksFiles, wasStopped: stop.aborted }
  } catch (error) {
    log.error({ submission, language, version, err: error }, 'execution.interrupted')
    if (executor.slots === 0) dependencies.onExhausted?.('no slot left')
    // A language that is not offered, a blob that is gone, a file that cannot be read or a checker that fails says nothing of
    // other runs.
    const isMissing =
      error instanceof SandboxError &&
      ['language.missing', 'blob.read', 'bubblewrap.output', 'checker.thread'].includes(error.step)
    if (code !== null && !isMissing && !identity.signal.aborted && !shutdown.aborted)
      dependencies.suspension?.noteFailure(language, error)
    return { loss: describeLoss(error, dependencies) }
  } finally {
    forget()
  }
}

/** @throws {SandboxError} when a worker is to run what it does not offer: another may. */
function demand({ runtimes }: Executor, language: Language): void {
  if (runtimes[language] === undefined)
    throw new SandboxError(
      'language.missing',
      `${language}, in which the checker is, is not offered here`,
    )
}

function describeExecution(
  { language, accountId }: Attempt,
  code: Buffer,
  { limits, ...rest }: Detail,
  usual: Limits,
): Omit<ExecutionRequest, 'stdin'> {
  const request = { language, code, cacheScope: accountId, ...rest }
  if (limits === undefined) return request
  return {
    ...request,
    limits: {
      compile: usual.compile && { ...usual.compile, ...limits.compile },
      run: { ...usual.run, ...limits.run },
    },
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
    await complete(dependencies, attempt, ran)
  } catch (error) {
    // A bug of ours or the database's; the submission goes back as lost.
    dependencies.log.error({ submission: attempt.submission, err: error }, 'execution.interrupted')
    await interrupt(dependencies, attempt, describeLoss(error, dependencies))
  }
}

async function complete(
  { database, log }: ExecuteDependencies,
  attempt: Attempt,
  {
    outcome,
    tests,
    expected,
    blobs,
    asksFiles,
    wasStopped,
  }: Extract<Ran, { readonly outcome: Outcome }>,
): Promise<void> {
  const { submission, language, version, identity, run } = attempt
  const { data, ...bodies } = await describeOutcome(outcome, expected, tests, wasStopped, asksFiles)
  const told = { ...data, ...(blobs && { blobs }) }
  const metadata = { actor: { worker: identity.workerId } }
  reachFailpoint('execute.before_complete')
  try {
    await untilSettled(
      () => conclude(database, { submission, version, run, data: told, metadata, bodies }),
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
  reachFailpoint('execute.after_complete')
  log.info(
    {
      submission,
      language,
      version,
      account: attempt.accountId,
      worker: identity.workerId,
      queued_seconds: Math.max(0, (timeOfId(run) - timeOfId(submission)) / 1000),
      verdict: data.verdict,
      run: data.run,
      compile: data.compile,
    },
    wasStopped ? 'submission.cancelled' : 'execution.completed',
  )
}

/** Once more where another event stands: if that one asks for the end, the end goes behind it. */
async function untilSettled(statement: () => PromiseLike<unknown>, log: Logger): Promise<void> {
  try {
    await untilAvailable(statement, log)
  } catch (error) {
    if (errorCode(error) !== sqlState.uniqueViolation) throw error
    await untilAvailable(statement, log)
  }
}

/** Milliseconds of a UUID v7: when a submission came or an attempt began. */
function timeOfId(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16)
}

async function interrupt(
  { database, log }: ExecuteDependencies,
  { submission, version, identity, run }: Attempt,
  data: ExecutionInterrupted['data'],
): Promise<void> {
  reachFailpoint('execute.before_interrupt')
  try {
    await untilSettled(
      () => database`
        select runledger.interrupt_execution(
          ${submission}, ${version}, ${schemaVersion}, ${JSON.stringify(data)}::text::jsonb,
          ${describeActor(identity.workerId)}::text::jsonb, ${maxLosses}, ${run}
        )`,
      log,
    )
    reachFailpoint('execute.after_interrupt')
  } catch (error) {
    // Given back already, or lost in a crash.
    if (!isFenced(error)) throw error
    log.warn({ submission, version }, 'execution.fenced')
  }
}

/** True when others ended the attempt, or a database crash lost its start. */
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
    // It never had a slot: not the program's fault.
    spends_attempt: !(error.step === 'slot.acquire' && executor.slots === 0),
    step: error.step,
    message: error.message,
  }
}

/**
 * True when this end was committed and its answer lost: only the version's holder can complete right after it, or, if that
 * was asked for, cancel.
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
  if (row?.status === 'completed') return row.version === version + 1
  return row?.status === 'cancelled' && row.version === version + 2
}
