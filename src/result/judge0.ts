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

const signalStatuses: Readonly<Record<string, number>> = {
  SIGSEGV: 7,
  SIGXFSZ: 8,
  SIGFPE: 9,
  SIGABRT: 10,
}

/** Buffers are texts that the caller encodes. A field is null before the end, and when there is no value. */
interface Judge0Result {
  readonly token: string
  readonly status: { readonly id: number; readonly description: string }
  readonly stdout: Buffer | null
  readonly stderr: Buffer | null
  readonly compile_output: Buffer | null
  readonly message: Buffer | null
  readonly exit_code: number | null
  readonly exit_signal: number | null
  /** Seconds. */
  readonly time: string | null
  readonly wall_time: string | null
  /** KiB. */
  readonly memory: number | null
  readonly created_at: string
  readonly finished_at: string | null
}

/** Converts a record to Judge0's fields. @param record with outputs in base64. */
export function toJudge0(record: ResultRecord): Judge0Result {
  const { id: token, created_at, finished_at } = record
  const status = findStatus(record)
  const common = {
    token,
    status: { id: status, description: judge0Statuses[status - 1] ?? '' },
    created_at,
    finished_at,
  }
  const compiled = toBytes(record.compile_output)
  if (!isFinal(record) || record.verdict === 'CE')
    return { ...common, ...nothing, compile_output: compiled }
  const { code, signal } = describeExit(record)
  return {
    ...common,
    stdout: toBytes(record.stdout, 'base64'),
    stderr: toBytes(record.stderr, 'base64'),
    compile_output: compiled,
    message: toBytes(describeEnd(record, code, signal)),
    exit_code: code,
    exit_signal: signal,
    ...(status === internalError ? noFigures : measure(record)),
  }
}

const noFigures = { time: null, wall_time: null, memory: null } as const
const nothing = {
  stdout: null,
  stderr: null,
  message: null,
  exit_code: null,
  exit_signal: null,
  ...noFigures,
} as const

/** Returns a text's bytes; null for null and for an empty text. */
function toBytes(text: string | null, encoding: 'utf8' | 'base64' = 'utf8'): Buffer | null {
  return text === null || text === '' ? null : Buffer.from(text, encoding)
}

function findStatus({ status, verdict, signal }: ResultRecord): number {
  if (status === 'queued') return 1
  if (status === 'running') return 2
  switch (verdict) {
    case 'AC':
      return 3
    case 'WA':
      return 4
    case 'TLE':
      return 5
    case 'CE':
      return 6
    case 'OLE':
      return 8
    case 'MLE':
    case 'RE':
      return signal === null ? 11 : (signalStatuses[signal] ?? 12)
    default:
      // IE, or cancelled: in neither case did the program fail.
      return internalError
  }
}

/** Describes the exit like isolate: SIGXFSZ for a program that wrote too much, no signal for one that ran too long. */
function describeExit({ verdict, exit_code: code, signal }: ResultRecord): {
  readonly code: number
  readonly signal: number | null
} {
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
function measure(record: ResultRecord): {
  readonly time: string
  readonly wall_time: string
  readonly memory: number
} {
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
] as const satisfies readonly (keyof Judge0Result)[]

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
