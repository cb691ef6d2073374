// Translates results for the Judge0-compatible API and its callbacks: the statuses of Judge0 CE 1.13, seconds as text, KiB.
import { constants } from 'node:os'
import { isFinal } from './record.ts'
import type { ResultRecord } from './schema.ts'

/** In the order of their ids: 1, 2, … */
export const judge0Statuses = [
  'In Queue',
  'Processing',
  'Accepted',
  'Wrong Answer',
  'Time Limit Exceeded',
  'Compilation Error',
  'Runtime Error (SIGSEGV)',
  'Runtime Error (SIGXFSZ)',
  'Runtime Error (SIGFPE)',
  'Runtime Error (SIGABRT)',
  'Runtime Error (NZEC)',
  'Runtime Error (Other)',
  'Internal Error',
  'Exec Format Error',
] as const

const internalError = 13

const verdictStatuses: Readonly<Record<string, number>> = { AC: 3, WA: 4, TLE: 5, CE: 6, OLE: 8 }
const signalStatuses: Readonly<Record<string, number>> = {
  SIGSEGV: 7,
  SIGXFSZ: 8,
  SIGFPE: 9,
  SIGABRT: 10,
}

/**
 * Converts a record to Judge0's fields: seconds as text, and KiB. A field that has no value, or none before the end, is null or
 * left out. Buffers are texts that the caller encodes.
 * @param record with outputs in base64.
 */
export function toJudge0(record: ResultRecord): object {
  const status = findStatus(record)
  const common = {
    token: record.id,
    status: { id: status, description: judge0Statuses[status - 1] },
    status_id: status,
    created_at: record.created_at,
    finished_at: record.finished_at,
    compile_output: toBytes(record.compile_output),
  }
  if (!isFinal(record) || record.verdict === 'CE') return common
  const { code, signal } = describeExit(record)
  return {
    ...common,
    stdout: toBytes(record.stdout, 'base64'),
    stderr: toBytes(record.stderr, 'base64'),
    message: toBytes(describeEnd(record, code, signal)),
    exit_code: code,
    exit_signal: signal,
    ...(status !== internalError && measure(record)),
  }
}

/** Returns a text's bytes; null for null and for an empty text. */
function toBytes(text: string | null, encoding: 'utf8' | 'base64' = 'utf8'): Buffer | null {
  return text === null || text === '' ? null : Buffer.from(text, encoding)
}

function findStatus({ status, verdict, signal }: ResultRecord): number {
  if (status === 'queued') return 1
  if (status === 'running') return 2
  if (verdict === 'MLE' || verdict === 'RE')
    return signal === null ? 11 : (signalStatuses[signal] ?? 12)
  // IE, or cancelled: in neither case did the program fail.
  return verdictStatuses[verdict ?? ''] ?? internalError
}

/** Describes the exit like isolate: SIGXFSZ for a program that wrote too much, no signal for one that ran too long. */
function describeExit({ verdict, exit_code: code, signal }: ResultRecord) {
  if (verdict === 'OLE') return { code: 0, signal: constants.signals.SIGXFSZ }
  if (verdict === 'TLE') return { code: 0, signal: null }
  if (signal === null) return { code: code ?? 0, signal: null }
  return { code: 0, signal: signalNumber(signal) }
}

/** Returns a signal's number; 9 for an unknown name. @param name such as SIGSEGV. */
export function signalNumber(name: string): number {
  return (constants.signals as Readonly<Record<string, number>>)[name] ?? 9
}

function describeEnd(
  { status, verdict, limit }: ResultRecord,
  code: number,
  signal: number | null,
): string | null {
  if (status === 'cancelled') return 'The submission was cancelled.'
  switch (verdict) {
    case 'IE':
      return 'The service could not run the program: send it again.'
    case 'TLE':
      return limit === 'wall_time' ? 'Time limit exceeded (wall clock)' : 'Time limit exceeded'
    case 'MLE':
      return 'Memory limit exceeded'
    case 'OLE':
    case 'RE':
      return signal === null ? `Exited with error status ${code}` : `Caught fatal signal ${signal}`
    default:
      return null
  }
}

/** Returns the figures of the run, or the means over the tests that were run. */
function measure(record: ResultRecord): object {
  const ran = (record.tests ?? []).filter(({ verdict }) => verdict !== null)
  const runs = ran.length > 0 ? ran : [record]
  const mean = (name: 'cpu_time' | 'wall_time' | 'memory_peak'): number =>
    runs.reduce((sum, run) => sum + (run[name] ?? 0), 0) / runs.length
  return {
    time: spellSeconds(mean('cpu_time')),
    wall_time: spellSeconds(mean('wall_time')),
    memory: Math.round(mean('memory_peak') / 1024),
  }
}

function spellSeconds(seconds: number): string {
  return String(Math.round(seconds * 1000) / 1000)
}

/** Encodes base64 like Ruby: in lines of 60 characters, each with a line feed at its end. */
export function encodeLines(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('base64')
    .replaceAll(/.{1,60}/g, '$&\n')
}

/** The fields of an answer when the caller selects none, and of a callback. */
export const judge0Fields = [
  'token',
  'time',
  'memory',
  'stdout',
  'stderr',
  'compile_output',
  'message',
  'status',
] as const

/** Returns the named fields as JSON values; a missing field is null. @param write encodes bytes. */
export function writeFields(
  values: object,
  fields: readonly string[],
  write: (bytes: Uint8Array) => string,
): Readonly<Record<string, unknown>> {
  const known = values as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    fields.map((name) => {
      const value = known[name] ?? null
      return [name, value instanceof Uint8Array ? write(value) : value]
    }),
  )
}

/** Returns a callback's body. @param record with outputs in base64. */
export function describeCallback(record: ResultRecord): object {
  return writeFields(toJudge0(record), judge0Fields, encodeLines)
}
