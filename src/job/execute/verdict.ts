// Judges one run: its verdict, the limit that ended it, and where its output differs. A small output is compared with the
// expected one at once, a large one in a thread, so that neither the lease nor the other slots wait for it.
import { check, defaultChecker, openCheckThread } from '#checker'
import type { BuiltInChecker, CheckThread, Difference, Judgement } from '#checker'
import { describeError } from '#error-text'
import { digestBody } from '#event'
import type { ExceededLimit, OutputDigest, PhaseFacts, Verdict } from '#event'
import { SandboxError } from '#executor'
import type { Ending, Phase } from '#executor'

/**
 * The most bytes of both outputs that are compared at once. The slowest checker takes some ten milliseconds for them, and the
 * way to the thread and back takes one.
 */
const bytesAtOnce = 256 * 1024

/** The check thread of this process. */
const ownThread = openCheckThread()

/** What a run is compared with. */
export interface Expectation {
  /** Null when any output is accepted. */
  readonly stdout: Uint8Array | null
  readonly checker: BuiltInChecker | undefined
  /** Ends a judgement that takes long. */
  readonly signal?: AbortSignal
}

export interface Judged {
  /** Null when the run was stopped. */
  readonly verdict: Verdict | null
  /** The limit that ended the run; null when none did. */
  readonly limit: ExceededLimit | null
  /** Where the output differs from the expected one; null unless that is why the verdict is WA. */
  readonly difference: Difference | null
}

/** The verdict of each ending, and the limit that ended the run. */
const judgedEndings: Readonly<
  Record<Exclude<Ending, 'exited'>, readonly [Verdict | null, ExceededLimit | null]>
> = {
  cancelled: [null, null],
  memory_limit: ['MLE', 'memory'],
  cpu_limit: ['TLE', 'cpu_time'],
  wall_limit: ['TLE', 'wall_time'],
  total_limit: ['TLE', 'total_time'],
  output_limit: ['OLE', 'stdout'],
  signaled: ['RE', null],
}

/** Returns a verdict without a limit or a difference. */
export function nothingBut(verdict: Judged['verdict']): Judged {
  return { verdict, limit: null, difference: null }
}

/** Judges how a run ended. Null when it exited with 0, because its output then decides. */
export function judgeEnd(run: Phase): Judged | null {
  const { ending, exitCode } = run
  if (ending === 'exited') return exitCode === 0 ? null : nothingBut('RE')
  const [verdict, limit] = judgedEndings[ending]
  const isOfStderr = ending === 'output_limit' && !run.stdoutTruncated
  return { ...nothingBut(verdict), limit: isOfStderr ? 'stderr' : limit }
}

/** Judges a run. @throws the errors of `judgeOutput`. */
export async function judgeRun(run: Phase, expected: Expectation): Promise<Judged> {
  const ended = judgeEnd(run)
  if (ended !== null) return ended
  if (expected.stdout === null) return nothingBut('AC')
  const { checker = defaultChecker, stdout, signal } = expected
  const judgement = await judgeOutput(checker, run.stdout, stdout, signal)
  return judgement.same
    ? nothingBut('AC')
    : { ...nothingBut('WA'), difference: judgement.difference }
}

/**
 * Compares an output with the expected one.
 * @throws {SandboxError} step `checker.thread` when the thread fails, so that the answer is not known; the signal's reason
 * when it ends the wait for the thread.
 */
export async function judgeOutput(
  checker: BuiltInChecker,
  output: Uint8Array,
  expected: Uint8Array,
  signal?: AbortSignal,
  thread: CheckThread = ownThread,
): Promise<Judgement> {
  if (output.length + expected.length <= bytesAtOnce) return check(checker, output, expected)
  // Most outputs equal the expected one byte by byte, which every checker accepts.
  if (Buffer.compare(output, expected) === 0) return { same: true }
  try {
    return await thread.check(checker, output, expected, signal)
  } catch (cause) {
    signal?.throwIfAborted()
    throw new SandboxError('checker.thread', describeError(cause), cause)
  }
}

/** Describes a phase as events do. */
export function factsOf(phase: Phase): PhaseFacts {
  return {
    ending: phase.ending,
    exit_code: phase.exitCode,
    signal: phase.signal,
    cpu_time: phase.usage.cpuSeconds,
    wall_time: phase.usage.wallSeconds,
    memory_peak: phase.usage.memoryPeakBytes,
    ...(phase.usage.delaySeconds !== undefined && { delay_seconds: phase.usage.delaySeconds }),
  }
}

export function digestOutput(output: Uint8Array, truncated: boolean): OutputDigest {
  return { ...digestBody(output), truncated }
}
