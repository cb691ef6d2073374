// From an executor's outcome to a verdict and the data of execution.completed.
import { check, defaultChecker } from '#checker'
import { digestBody } from '#event'
import type { ExceededLimit, ExecutionCompleted, OutputDigest, PhaseFacts, Verdict } from '#event'
import type { Ending, Outcome, Phase } from '#executor'

/** The event's data and its bodies. */
export interface Completion {
  readonly data: ExecutionCompleted['data']
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** Null for a language without a compiler. */
  readonly compileOutput: Uint8Array | null
}

const endingVerdicts: Readonly<Record<Exclude<Ending, 'exited'>, Verdict>> = {
  memory_limit: 'MLE',
  cpu_limit: 'TLE',
  wall_limit: 'TLE',
  output_limit: 'OLE',
  signaled: 'RE',
}

const nothing = new Uint8Array()

/** @param expectedStdout null: any output will do. */
export function describeOutcome(outcome: Outcome, expectedStdout: Uint8Array | null): Completion {
  const { compile, run } = outcome
  const stdout = run?.stdout ?? nothing
  const stderr = run?.stderr ?? nothing
  const compileOutput = compile === null ? null : explainCompile(compile)
  const limit = run === null ? null : findExceeded(run)
  return {
    data: {
      verdict: decideVerdict(run, expectedStdout),
      exit_code: run?.exitCode ?? null,
      signal: run?.signal ?? null,
      compile: compile === null ? null : { ...factsOf(compile), cached: outcome.compileCached },
      run: run === null ? null : factsOf(run),
      stdout: digestOutput(stdout, run?.stdoutTruncated ?? false),
      stderr: digestOutput(stderr, run?.stderrTruncated ?? false),
      compile_output:
        compileOutput === null
          ? null
          : digestOutput(compileOutput, compile?.stderrTruncated ?? false),
      ...(limit !== null && { limit }),
    },
    stdout,
    stderr,
    compileOutput,
  }
}

const exceededLimits: Partial<Record<Ending, ExceededLimit>> = {
  memory_limit: 'memory',
  cpu_limit: 'cpu_time',
  wall_limit: 'wall_time',
}

function findExceeded({ ending, stdoutTruncated }: Phase): ExceededLimit | null {
  if (ending === 'output_limit') return stdoutTruncated ? 'stdout' : 'stderr'
  return exceededLimits[ending] ?? null
}

function decideVerdict(run: Phase | null, expectedStdout: Uint8Array | null): Verdict {
  if (run === null) return 'CE'
  if (run.ending !== 'exited') return endingVerdicts[run.ending]
  if (run.exitCode !== 0) return 'RE'
  if (expectedStdout === null) return 'AC'
  return check(defaultChecker, run.stdout, expectedStdout).same ? 'AC' : 'WA'
}

const limitNames: Partial<Record<Ending, string>> = {
  memory_limit: 'memory',
  cpu_limit: 'CPU time',
  wall_limit: 'wall time',
  output_limit: 'output',
}

function explainCompile(compile: Phase): Uint8Array {
  const limit = limitNames[compile.ending]
  if (limit === undefined) return compile.stderr
  return Buffer.concat([
    compile.stderr,
    Buffer.from(`\n[the compiler passed its ${limit} limit]\n`),
  ])
}

function factsOf(phase: Phase): PhaseFacts {
  return {
    ending: phase.ending,
    exit_code: phase.exitCode,
    signal: phase.signal,
    cpu_seconds: phase.usage.cpuSeconds,
    wall_seconds: phase.usage.wallSeconds,
    memory_peak_bytes: phase.usage.memoryPeakBytes,
  }
}

function digestOutput(output: Uint8Array, truncated: boolean): OutputDigest {
  return { ...digestBody(output), truncated }
}
