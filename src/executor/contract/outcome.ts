// What became of a request: the program's fate, always a value and never thrown, and our own failures, always thrown.
// Verdicts are derived from an outcome elsewhere; here stand only facts.

/**
 * Why a phase ended, by evidence and in this order of precedence:
 * `memory_limit` the kernel's out-of-memory killer struck in the phase's cgroup (or a JVM died of OutOfMemoryError);
 * `cpu_limit`, `wall_limit` the clock passed its limit; `total_limit` the clock passed what was left of the request's
 * `totalSeconds`; `output_limit` stdout or stderr passed theirs;
 * `cancelled` the request's `stop` ended it; `signaled` a signal ended the main process; `exited` it ended by itself.
 */
export type Ending =
  | 'exited'
  | 'signaled'
  | 'cancelled'
  | 'output_limit'
  | 'total_limit'
  | 'wall_limit'
  | 'cpu_limit'
  | 'memory_limit'

/** What a phase used, measured by its cgroup and a monotonic clock, set-up excluded. */
export interface Usage {
  /** User + system time of everything in the cgroup, in seconds, to the microsecond. */
  readonly cpuSeconds: number
  /** Program start to end, in seconds, to the microsecond. */
  readonly wallSeconds: number
  /** For so long it could have run and was not let, at least; left out when that was not seen. No limit counts it. */
  readonly delaySeconds?: number
  /** The cgroup's peak, in bytes. */
  readonly memoryPeakBytes: number
}

/** Of the contents of a run's files together. */
export const outputFilesBytesMost = 1024 * 1024

export interface OutputFile {
  /** As it was asked for: a path below /box. */
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Null when it did not fit beside those before it. */
  readonly content: Uint8Array | null
}

/** One phase (compile or run) as it happened. */
export interface Phase {
  readonly ending: Ending
  /** The program's exit code; 128 + n when signal n ended it; 137 when we killed it. */
  readonly exitCode: number
  /** Name of the signal that ended it, such as `SIGSEGV`; null when it exited. */
  readonly signal: string | null
  /** What was captured, at most the limit's bytes. */
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly stdoutTruncated: boolean
  readonly stderrTruncated: boolean
  readonly usage: Usage
  /** Those of the asked for that it left, in the order of the request; absent when none was asked for. */
  readonly outputFiles?: readonly OutputFile[]
  /** What ran beside it. */
  readonly interactor?: InteractorEnd
}

export interface InteractorEnd {
  readonly phase: Phase
  /** It had ended before the program, which could not know of it. */
  readonly endedFirst: boolean
  /** It does not compile: that is the phase, and the program ran without it. */
  readonly isCompiler?: true
}

/** The fate of one request. */
export interface Outcome {
  /**
   * Null for a language without a compiler, and when the program was stopped before its compiler had ended. A cache hit repeats the phase that was measured when it was compiled. Where a
   * resident compiler did it, the times are those of this source and the peak is that of the compiler as it stands.
   */
  readonly compile: Phase | null
  /** True when the compiled program came from the cache. */
  readonly compileCached: boolean
  /** The first, of several. Null when the program did not compile, was stopped before it ran, or no run was asked for. */
  readonly run: Phase | null
}

/** The sandbox itself failed: our fault, never the program's. The slot is clean again or quarantined when it is thrown. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
  /** The step that failed, such as `cgroup.create` or `keeper.start`. */
  readonly step: string

  constructor(step: string, message: string, cause?: unknown) {
    super(`${step}: ${message}`, cause === undefined ? undefined : { cause })
    this.step = step
  }
}

/** The sandbox failed before the program's first instruction: nothing of it has run, so it may be run elsewhere. */
export class NotStartedError extends SandboxError {}

/** The same failure, known to have come before a program began. */
export function asNotStarted(error: unknown): NotStartedError {
  if (error instanceof NotStartedError) return error
  if (!(error instanceof SandboxError))
    return new NotStartedError('keeper.start', String(error), error)
  const { step, message } = error
  return new NotStartedError(step, message.slice(`${step}: `.length), error)
}
