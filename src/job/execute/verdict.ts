// From an executor's outcome to a verdict and the data of execution.completed.
import { check, defaultChecker } from '#checker'
import { digestBody } from '#event'
import type { ExecutionCompleted, OutputDigest, PhaseFacts, Verdict } from '#event'
import type { Ending, Outcome, Phase } from '#executor'

/** The event's data and its bodies. */
export interface Completion {
  readonly data: Omit<ExecutionCompleted['data'], 'verdict'> & {
    /** Null: it was stopped. */
    readonly verdict: Verdict | null
  }
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** Null for a language without a compiler. */
  readonly compileOutput: Uint8Array | null
}

const endingVerdicts: Readonly<Record<Exclude<Ending, 'exited'>, Verdict | null>> = {
  cancelled: null,
  memory_limit: 'MLE',
  cpu_limit: 'TLE',
  wall_limit: 'TLE',
  output_limit: 'OLE',
  signaled: 'RE',
}

const nothing = new Uint8Array()

/** @param expectedStdout null: any output will do. @param wasStopped true: it has no verdict. */
export function describeOutcome(
  outcome: Outcome,
  expectedStdout: Uint8Array | null,
  wasStopped = false,
): Completion {
  const { compile, run } = outcome
  const stdout = run?.stdout ?? nothing
  const stderr = run?.stderr ?? nothing
  const compileOutput = compile === null ? null : explainCompile(compile)
  return {
    data: {
      verdict: wasStopped ? null : decideVerdict(run, expectedStdout),
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
    },
    stdout,
    stderr,
    compileOutput,
  }
}

function decideVerdict(run: Phase | null, expectedStdout: Uint8Array | null): Verdict | null {
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
