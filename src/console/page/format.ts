// Formats figures and outcomes for people.
import type { ExceededLimit, Result, TestResult } from '#client'

type Verdict = NonNullable<Result['verdict']>

export const verdictNames: Readonly<Record<Verdict, string>> = {
  AC: 'Accepted',
  WA: 'Wrong answer',
  CE: 'Compile error',
  RE: 'Runtime error',
  TLE: 'Time limit exceeded',
  MLE: 'Memory limit exceeded',
  OLE: 'Output limit exceeded',
  IE: 'Internal error',
}

const statusNames: Readonly<Record<Result['status'], string>> = {
  queued: 'Queued',
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

export const statuses = Object.keys(statusNames)

const limitReasons: Readonly<Record<ExceededLimit, string>> = {
  cpu_time: 'It used more CPU time than its limit.',
  wall_time: 'It took longer than its limit.',
  memory: 'It needed more memory than its limit.',
  stdout: 'It wrote more to stdout than its limit.',
  stderr: 'It wrote more to stderr than its limit.',
  total_time: 'All of it together took longer than a submission may.',
}

/** Formats seconds: `0 s`, `12 ms`, `1.25 s`, `2 min 5 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds === 0) return '0 s'
  if (seconds < 0.0005) return '< 1 ms'
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 60) return `${Number(seconds.toFixed(2))} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** Formats bytes: `512 B`, `8.5 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB']
  let unit = 0
  let figure = bytes
  while (figure >= 1024 && unit < units.length - 1) {
    figure /= 1024
    unit += 1
  }
  return `${Number(figure.toFixed(figure < 10 && unit > 0 ? 1 : 0))} ${units[unit] ?? ''}`
}

/** Formats a time in the reader's time zone, to the second. */
export function formatTime(time: string): string {
  // Swedish times are written so: 2030-01-31 14:05:06.
  return new Date(time).toLocaleString('sv-SE')
}

/** Formats a count: `1 test`, `2 tests`. */
export function count(figure: number, noun: string): string {
  return `${figure.toLocaleString('en')} ${noun}${figure === 1 ? '' : 's'}`
}

/** `good`, `bad` (the program's fault), `fault` (ours), or `none` without a verdict. */
export type Tone = 'good' | 'bad' | 'fault' | 'none'

/** Returns a verdict's colour. */
export function judgeVerdict(verdict: Verdict): Tone {
  if (verdict === 'AC') return 'good'
  return verdict === 'IE' ? 'fault' : 'bad'
}

/** The word for AC when no output was expected. */
const finished = 'Finished'

/** Returns a short word for the outcome, and its colour. @param isJudged an output was expected. */
export function nameOutcome(
  { status, verdict }: Pick<Result, 'status' | 'verdict'>,
  isJudged = true,
): { readonly word: string; readonly tone: Tone } {
  if (verdict === null) return { word: statusNames[status], tone: 'none' }
  const word = verdict === 'AC' && !isJudged ? finished : verdictNames[verdict]
  return { word, tone: judgeVerdict(verdict) }
}

/** Explains the outcome in one sentence; empty when the outcome says it all. */
export function explain(result: Result): string {
  const { status, verdict, fault, limit, exit_code: code, signal, tests, message } = result
  if (status === 'queued') return 'It waits for a worker.'
  if (status === 'running') return ''
  if (status === 'cancelled') return 'It was cancelled; its output until then is kept.'
  const decided = tests?.findIndex((test) => test.verdict !== null && test.verdict !== 'AC') ?? -1
  const where =
    decided < 0 ? '' : ` Test ${nameTest(tests?.[decided]?.name ?? null, decided)} decided.`
  if (message !== null) return `${message}${where}`
  if (limit !== null) return `${limitReasons[limit]}${where}`
  if (verdict === 'CE') return 'The compiler refused it.'
  if (verdict === 'RE') {
    const how = signal === null ? `It ended with exit code ${code ?? '?'}.` : `${signal} ended it.`
    return `${how}${where}`
  }
  if (verdict === 'WA') return `Its output is not what was expected.${where}`
  if (fault === 'checker') return `The checker failed, which is no fault of the program.${where}`
  if (fault === 'platform') return 'The service could not run it, which is no fault of the program.'
  if (tests !== null) return `${count(tests.length, 'test')}, all of them passed.`
  return ''
}

/** Returns the test's name, or its number from 1. */
export function nameTest(name: TestResult['name'], index: number): string {
  return name === null || name === '' ? String(index + 1) : name
}

/** Returns the used share of a limit, from 0 to 1. */
export function share(used: number, limit: number): number {
  return limit > 0 ? Math.min(1, Math.max(0, used / limit)) : 0
}
