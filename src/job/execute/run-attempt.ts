// Runs a started attempt in the sandbox: fetches its inputs, applies its limits, and judges its tests while they run.
import { unlessAborted } from '#abort'
import type { Database } from '#database'
import type { EventData } from '#event'
import { nothingDone, roundSeconds, SandboxError } from '#executor'
import type { BlobCache, ExecutionRequest, Outcome } from '#executor'
import type { Limits } from '#language'
import { decodeFiles, decodeOptions, toPhaseLimits } from '#options'
import type { Options } from '#options'
import type { Attempt, AttemptDependencies } from './attempt.ts'
import type { Tenure } from './continue.ts'
import { describeLoss, isOfRequest } from './loss.ts'
import type { Loss } from './loss.ts'
import type { RunOutput } from './output-publisher.ts'
import type { Suspension } from './suspension.ts'
import { judgeTests } from './tests.ts'
import type { JudgedTests, ReadBlob } from './tests.ts'
import type { Expectation } from './verdict.ts'

export interface ExecuteDependencies extends AttemptDependencies {
  /** A pool whose statements may take a minute, for large results. */
  readonly patientDatabase: Database
  /** Keeps the worker from taking jobs after a sandbox failure, until a trial has passed. */
  readonly suspension: Suspension
  readonly blobs: BlobCache
  /**
   * Called when this process should end: no slot can be trusted, or an attempt can be neither ended nor requeued, so that
   * only the worker's end frees it.
   */
  readonly onExhausted: (reason: string) => void
}

/** What came of an attempt that was not lost. */
export interface Finished {
  readonly outcome: Outcome
  /** Null for a submission without tests. */
  readonly tests: JudgedTests | null
  readonly expected: Expectation
  readonly blobs: EventData['execution.completed']['blobs']
  /** True when the completion names the files that the run has left. */
  readonly asksFiles: boolean
  /** True when the submission was stopped, and so has no verdict. */
  readonly wasStopped: boolean
  /** The seconds for which the attempt had a slot. */
  readonly slotSeconds: number
}

/** What came of an attempt. */
export type Ran = Finished | Loss

/** What follows the attempt while it runs. */
interface Followers {
  /** Fires when the submission is cancelled. */
  readonly cancelled: AbortSignal
  readonly output: RunOutput
  readonly tenure: Tenure
}

/** Runs an attempt. Never rejects. */
export async function runAttempt(
  dependencies: ExecuteDependencies,
  attempt: Attempt,
  followers: Followers,
): Promise<Ran> {
  const { executor, shutdown, log } = dependencies
  const { submission, language, code, identity, version } = attempt
  try {
    if (code === null) throw new SandboxError('body.read', 'the code is gone')
    const lost = AbortSignal.any([identity.signal, shutdown])
    const finished = await runCode(dependencies, attempt, code, lost, followers)
    if (!followers.cancelled.aborted) dependencies.suspension.noteSuccess()
    return finished
  } catch (error) {
    log.error({ submission, language, version, err: error }, 'execution.interrupted')
    if (executor.slots === 0) dependencies.onExhausted('no slot left')
    const isLast = await isOfRequest(dependencies, attempt, error)
    return { loss: describeLoss(error, dependencies), isLast }
  }
}

/**
 * Fetches the inputs, runs the program and judges its tests meanwhile.
 * @param lost fires when the attempt is no longer ours, or must be requeued.
 * @throws the error that makes the attempt a loss.
 */
async function runCode(
  { executor, limits, blobs: cache }: ExecuteDependencies,
  attempt: Attempt,
  code: Buffer,
  lost: AbortSignal,
  { cancelled, output, tenure }: Followers,
): Promise<Finished> {
  const beganAt = performance.now()
  const options = decodeOptions(attempt.options)
  const { checker } = options
  const lostOrCancelled = AbortSignal.any([lost, cancelled])
  const blobs = openBlobs(cache, attempt.accountId, lostOrCancelled)
  const plan = {
    options,
    scope: attempt.accountId,
    readBlob: blobs.read,
    stop: cancelled,
    signal: lostOrCancelled,
  }
  const judged = options.tests === undefined ? null : judgeTests(options.tests, plan)
  const readGiven = async () => ({
    expectedStdout: await blobs.read(attempt.expectedStdout, options.expected_stdout_sha256),
    stdin: await blobs.read(attempt.stdin, options.stdin_sha256),
  })
  const given = await unlessAborted(readGiven(), cancelled)
  const expected = {
    stdout: given?.expectedStdout ?? null,
    // A checker program judges only tests, and does so while they run.
    checker: checker?.type === 'program' ? undefined : checker,
    signal: lost,
  }
  const request = given && {
    ...describeExecution(attempt, code, options, limits[attempt.language]),
    stdin: given.stdin,
    ...(judged && { runs: { ...output.follow(judged), between: tenure.between } }),
    stop: cancelled,
    live: output.live,
  }
  const outcome = request === undefined ? nothingDone : await executor.execute(request, lost)
  const asksFiles = (options.output_files ?? []).length > 0
  return {
    outcome,
    tests: judged,
    expected,
    blobs: blobs.count(),
    asksFiles,
    wasStopped: cancelled.aborted,
    slotSeconds: roundSeconds((performance.now() - beganAt) / 1000 - tenure.parkedSeconds),
  }
}

/**
 * Opens the blobs that a submission names. They are read one by one, as its runs need them, so that a worker holds those of
 * one run only.
 * @param signal ends the wait for a blob; the read itself goes on, because others may share it.
 */
function openBlobs(
  cache: BlobCache,
  accountId: string,
  signal: AbortSignal,
): { readonly read: ReadBlob; readonly count: () => Finished['blobs'] } {
  let read = 0
  let fetched = 0
  return {
    async read(given, blob) {
      if (blob === undefined) return given
      const { bytes, cached } = await cache.read(accountId, blob, signal)
      read += 1
      if (!cached) fetched += 1
      return bytes
    },
    count: () => (read === 0 ? undefined : { read, fetched }),
  }
}

function describeExecution(
  { language, accountId, totalSeconds, cores }: Attempt,
  code: Buffer,
  options: Options,
  usual: Limits,
): Omit<ExecutionRequest, 'stdin'> {
  const {
    args = [],
    compile_args: compileArguments = [],
    files = [],
    output_files: names = [],
    env,
    network,
    merge_stderr: mergesStderr,
    interactor,
  } = options
  const { limits, compile_limits: compileLimits } = options
  return {
    language,
    code,
    cacheScope: accountId,
    totalSeconds,
    cores: cores ?? undefined,
    arguments: args,
    compileArguments,
    network,
    mergesStderr,
    files: decodeFiles(files),
    ...(interactor && {
      interactor: {
        language: interactor.language,
        code: Buffer.from(interactor.code),
        files: decodeFiles(interactor.files ?? []),
        compileArguments: interactor.compile_args ?? [],
      },
    }),
    ...(env && { environment: env }),
    ...(names.length > 0 && { outputFiles: names }),
    ...((limits ?? compileLimits) !== undefined && {
      limits: {
        compile: usual.compile && { ...usual.compile, ...toPhaseLimits(compileLimits ?? {}) },
        run: { ...usual.run, ...toPhaseLimits(limits ?? {}) },
      },
    }),
  }
}
