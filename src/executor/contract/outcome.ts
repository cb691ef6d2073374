// The outcome of a request: what the program did is always a value; failures of the sandbox are always thrown. An outcome holds
// only facts. Verdicts are derived from it elsewhere.

/**
 * Why a phase ended, by evidence and in this order of precedence:
 * `memory_limit` the kernel's out-of-memory killer struck in the phase's cgroup (or a JVM died of OutOfMemoryError);
 * `cpu_limit`, `wall_limit` the clock passed its limit; `total_limit` the clock passed the rest of the request's
 * `totalSeconds`; `output_limit` stdout or stderr passed its limit;
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

/** What a phase used, measured by its cgroup and a monotonic clock, without the set-up of the box. */
export interface Usage {
  /** User + system time of everything in the cgroup, in seconds, to the microsecond. */
  readonly cpuSeconds: number
  /** From the program's start to its end, in seconds, to the microsecond. */
  readonly wallSeconds: number
  /** At least so long the program could run but got no processor, in seconds. Absent when not seen. No limit counts it. */
  readonly delaySeconds?: number
  /** The cgroup's peak, in bytes. */
  readonly memoryPeakBytes: number
}

/** Limit for the contents of a run's output files together. */
export const outputFilesBytesMost = 1024 * 1024

export interface OutputFile {
  /** Path below /box, as in the request. */
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Null when the content did not fit beside the files before it. */
  readonly content: Uint8Array | null
}

/** One phase (compile or run) as it happened. */
export interface Phase {
  readonly ending: Ending
  /** The program's exit code; 128 + n when signal n ended it; 137 when the sandbox killed it. */
  readonly exitCode: number
  /** Name of the signal that ended the program, such as `SIGSEGV`; null when it exited. */
  readonly signal: string | null
  /** The captured output, at most as long as the limit. */
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly stdoutTruncated: boolean
  readonly stderrTruncated: boolean
  readonly usage: Usage
  /** The requested files that the program left, in the order of the request. Absent when the request names none. */
  readonly outputFiles?: readonly OutputFile[]
  /** The result of the interactor, if the program had one. */
  readonly interactor?: InteractorEnd
}

export interface InteractorEnd {
  readonly phase: Phase
  /** True when the interactor ended before the program. The program could not know of that. */
  readonly endedFirst: boolean
  /** The interactor does not compile: `phase` is its compilation, and the program ran without it. */
  readonly isCompiler?: true
}

/** The outcome of one request. */
export interface Outcome {
  /**
   * Null for a language without a compiler, and when the program was stopped before its compiler had ended. A cache hit
   * repeats the phase that was measured at the compilation. When a resident compiler compiled the source, the times are
   * those of this source, and the memory peak is that of the whole compiler process.
   */
  readonly compile: Phase | null
  /** True when the compiled program came from the cache. */
  readonly compileCached: boolean
  /** The first run. Null when the program did not compile, was stopped before it ran, or the request has no runs. */
  readonly run: Phase | null
}

/** A failure of the sandbox, never of the program. When it is thrown, the slot is clear again or withheld. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
  /** The step that failed, such as `cgroup.create` or `keeper.start`. */
  readonly step: string

  constructor(step: string, message: string, cause?: unknown) {
    super(`${step}: ${message}`, cause === undefined ? undefined : { cause })
    this.step = step
  }
}

/** A failure of the sandbox before the program's first instruction. The program may therefore run in another slot. */
export class NotStartedError extends SandboxError {}

/** Returns the same failure, of which the caller knows that no program had started. */
export function asNotStarted(error: unknown): NotStartedError {
  if (error instanceof NotStartedError) return error
  if (!(error instanceof SandboxError))
    return new NotStartedError('keeper.start', String(error), error)
  const { step, message } = error
  return new NotStartedError(step, message.slice(`${step}: `.length), error)
}
