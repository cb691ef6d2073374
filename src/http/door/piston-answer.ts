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
  const version = readVersion(record.runtime ?? '')
  const compile = record.compile === null ? undefined : describeCompile(record, record.compile)
  // Piston repeats the compiler's stage as the run, so that a client that knows only the run sees why there was none.
  if (record.verdict === 'CE')
    return { version, ...(compile && { compile }), run: compile ?? describeRun(record) }
  return { version, ...(compile && { compile }), run: describeRun(record) }
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
  const status = nameStatus(record)
  return {
    stdout: stdout ?? '',
    stderr: stderr ?? '',
    output: `${stdout ?? ''}${stderr ?? ''}`,
    code: signal === null ? code : null,
    signal,
    message: describeStatus(record, status),
    status,
    ...figures({
      cpu_time: record.cpu_time ?? 0,
      wall_time: record.wall_time ?? 0,
      memory_peak: record.memory_peak ?? 0,
    }),
  }
}

function nameStatus({ verdict, limit: exceeded, signal }: ResultRecord): Stage['status'] {
  if (verdict === 'TLE') return 'TO'
  if (verdict === 'OLE') return exceeded === 'stderr' ? 'EL' : 'OL'
  if (verdict === 'AC') return null
  return signal === null ? 'RE' : 'SG'
}

function describeStatus(
  { verdict, exit_code: code, signal }: ResultRecord,
  status: Stage['status'],
): string | null {
  if (verdict === 'MLE') return 'Memory limit exceeded'
  switch (status) {
    case null:
      return null
    case 'TO':
      return 'Time limit exceeded'
    case 'OL':
      return 'stdout length exceeded'
    case 'EL':
      return 'stderr length exceeded'
    case 'SG':
      return `Caught fatal signal ${signal}`
    case 'RE':
      return `Exited with error status ${code}`
  }
}

function figures({
  cpu_time: cpu,
  wall_time: wall,
  memory_peak: memory,
}: Pick<NonNullable<ResultRecord['compile']>, 'cpu_time' | 'wall_time' | 'memory_peak'>): Pick<
  Stage,
  'cpu_time' | 'wall_time' | 'memory'
> {
  return { cpu_time: Math.round(cpu * 1000), wall_time: Math.round(wall * 1000), memory }
}
