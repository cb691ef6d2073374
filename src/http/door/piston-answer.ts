// Results as Piston shows them: a stage for the compiler and one for the run.
import type { ResultRecord, TrackedResult } from '#result'
import { compilerCode, readVersion } from './run.ts'

interface Stage {
  readonly stdout: string
  readonly stderr: string
  readonly output: string
  readonly code: number | null
  readonly signal: string | null
  readonly message: string | null
  readonly status: 'RE' | 'SG' | 'TO' | 'OL' | 'EL' | null
  /** Milliseconds. */
  readonly cpu_time: number
  readonly wall_time: number
  /** Bytes. */
  readonly memory: number
}

/** Translates a record to Piston's two stages. */
export function translateRecord(record: TrackedResult): {
  readonly version: string
  readonly compile?: Stage
  readonly run: Stage
} {
  const compile = record.compile === null ? undefined : describeCompile(record, record.compile)
  return {
    version: readVersion(record.runtime ?? ''),
    ...(compile && { compile }),
    // Piston repeats the compiler's stage as the run, so that a client that knows only the run sees why there was none.
    run: (record.verdict === 'CE' ? compile : undefined) ?? describeRun(record),
  }
}

function describeCompile(
  record: ResultRecord,
  compile: NonNullable<ResultRecord['compile']>,
): Stage {
  const code = compilerCode(record, compile.exit_code)
  const output = record.compile_output ?? ''
  return {
    stdout: '',
    stderr: output,
    output,
    code,
    signal: null,
    message: code === 0 ? null : `Exited with error status ${code}`,
    status: code === 0 ? null : 'RE',
    ...figures(compile),
  }
}

function describeRun(record: ResultRecord): Stage {
  const { stdout, stderr, exit_code: code, signal } = record
  return {
    stdout: stdout ?? '',
    stderr: stderr ?? '',
    output: `${stdout ?? ''}${stderr ?? ''}`,
    code: signal === null ? code : null,
    signal,
    ...describeEnd(record),
    ...figures(record),
  }
}

function describeEnd({
  verdict,
  limit,
  signal,
  exit_code: code,
}: ResultRecord): Pick<Stage, 'message' | 'status'> {
  if (verdict === 'AC') return { message: null, status: null }
  if (verdict === 'TLE') return { message: 'Time limit exceeded', status: 'TO' }
  if (verdict === 'OLE')
    return limit === 'stderr'
      ? { message: 'stderr length exceeded', status: 'EL' }
      : { message: 'stdout length exceeded', status: 'OL' }
  const status = signal === null ? 'RE' : 'SG'
  if (verdict === 'MLE') return { message: 'Memory limit exceeded', status }
  const message =
    signal === null ? `Exited with error status ${code}` : `Caught fatal signal ${signal}`
  return { message, status }
}

function figures({
  cpu_time: cpu,
  wall_time: wall,
  memory_peak: memory,
}: Pick<ResultRecord, 'cpu_time' | 'wall_time' | 'memory_peak'>): Pick<
  Stage,
  'cpu_time' | 'wall_time' | 'memory'
> {
  return {
    cpu_time: Math.round((cpu ?? 0) * 1000),
    wall_time: Math.round((wall ?? 0) * 1000),
    memory: memory ?? 0,
  }
}
