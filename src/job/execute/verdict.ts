// Judges one run: its verdict, the limit that ended it, and where its output differs. A small output is held against the
// expected one at once, a large one in a thread, so that neither the lease nor the other slots wait for it.
import { check, defaultChecker, openCheckThread } from '#checker'
import type { BuiltInChecker, CheckThread, Difference, Judgement } from '#checker'
import { describeError } from '#error-text'
import { digestBody } from '#event'
import type { ExceededLimit, OutputDigest, PhaseFacts, Verdict } from '#event'
import { SandboxError } from '#executor'
import type { Ending, Phase } from '#executor'

/** Of both together. The slowest checker takes some ten milliseconds for them, the way to the thread and back one. */
const bytesAtOnce = 256 * 1024

/** The process's. */
const ownThread = openCheckThread()

/** What a run is held against. */
export interface Expectation {
  /** Null: any output will do. */
  readonly stdout: Uint8Array | null
  readonly checker: BuiltInChecker | undefined
  /** Ends a judgement that takes its time. */
  readonly signal?: AbortSignal
}

export interface Judged {
  /** Null: it was stopped. */
  readonly verdict: Verdict | null
  /** The limit that ended it; null when none did. */
  readonly limit: ExceededLimit | null
  /** Where the output is not what was expected; null unless that is the verdict. */
  readonly difference: Difference | null
}

const endingVerdicts: Readonly<Record<Exclude<Ending, 'exited'>, Verdict | null>> = {
  cancelled: null,
  memory_limit: 'MLE',
  cpu_limit: 'TLE',
  wall_limit: 'TLE',
  total_limit: 'TLE',
  output_limit: 'OLE',
  signaled: 'RE',
}

const exceededLimits: Partial<Record<Ending, ExceededLimit>> = {
  memory_limit: 'memory',
  cpu_limit: 'cpu_time',
  wall_limit: 'wall_time',
  total_limit: 'total_time',
}

/** A verdict that needs no more words. */
export function nothingBut(verdict: Judged['verdict']): Judged {
  return { verdict, limit: null, difference: null }
}

/** Null for a run that ended well: its output decides. */
export function judgeEnd(run: Phase): Judged | null {
  const { ending, exitCode } = run
  if (ending !== 'exited')
    return { ...nothingBut(endingVerdicts[ending]), limit: findExceeded(run) }
  return exitCode === 0 ? null : nothingBut('RE')
}

/** @throws as `judgeOutput`. */
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
 * @throws {SandboxError} step `checker.thread`: whether they are the same is not known then. The signal's reason when that
 * ends the wait for the thread.
 */
export async function judgeOutput(
  checker: BuiltInChecker,
  output: Uint8Array,
  expected: Uint8Array,
  signal?: AbortSignal,
  thread: CheckThread = ownThread,
): Promise<Judgement> {
  if (output.length + expected.length <= bytesAtOnce) return check(checker, output, expected)
  // Most are, and to every checker.
  if (Buffer.compare(output, expected) === 0) return { same: true }
  try {
    return await thread.check(checker, output, expected, signal)
  } catch (cause) {
    signal?.throwIfAborted()
    throw new SandboxError('checker.thread', describeError(cause), cause)
  }
}

function findExceeded({ ending, stdoutTruncated }: Phase): ExceededLimit | null {
  if (ending === 'output_limit') return stdoutTruncated ? 'stdout' : 'stderr'
  return exceededLimits[ending] ?? null
}

/** A phase as events describe it. */
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
