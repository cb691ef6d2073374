// Results as Piston shows them: a stage for the compiler and one for the run. Times are in milliseconds, memory is in bytes.
import type { ResultRecord, TrackedResult } from '#result'
import { compilerCode, readVersion } from './run.ts'

export function translateRecord(record: TrackedResult): object {
  const compile = record.compile === null ? undefined : describeCompile(record, record.compile)
  return {
    language: record.language,
    version: readVersion(record.runtime ?? ''),
    ...(compile && { compile }),
    // Piston repeats the compiler's stage as the run, so that a client that knows only the run sees why there was none.
    run: (record.verdict === 'CE' ? compile : undefined) ?? describeRun(record),
  }
}

function describeCompile(
  record: ResultRecord,
  compile: NonNullable<ResultRecord['compile']>,
): object {
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
    ...describeFigures(compile),
  }
}

function describeRun(record: ResultRecord): object {
  const { stdout, stderr, exit_code: code, signal } = record
  return {
    stdout: stdout ?? '',
    stderr: stderr ?? '',
    output: `${stdout ?? ''}${stderr ?? ''}`,
    code: signal === null ? code : null,
    signal,
    ...describeEnd(record),
    ...describeFigures(record),
  }
}

function describeEnd({ verdict, limit, signal, exit_code: code }: ResultRecord): object {
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

function describeFigures(
  phase: Pick<ResultRecord, 'cpu_time' | 'wall_time' | 'memory_peak'>,
): object {
  return {
    cpu_time: Math.round((phase.cpu_time ?? 0) * 1000),
    wall_time: Math.round((phase.wall_time ?? 0) * 1000),
    memory: phase.memory_peak ?? 0,
  }
}
