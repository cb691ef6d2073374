// Measures a service as callers see it. generator.ts makes the load. A terminal shows progress and a table; a script gets one
// JSON object.
import { parseServiceUrl } from '#client'
import type { SubmissionRequest } from '#client'
import { exitStatuses } from '../../src/cli/command.ts'
import type { Terminal } from '../../src/cli/command.ts'
import { printable } from '../../src/cli/output.ts'
import { readProgram } from '../../src/cli/submission-request.ts'
import { startLoad } from './generator.ts'
import type { Load } from './generator.ts'
import type { LoadState, Percentiles } from './tally.ts'

/** The options of a load, as text from a command line. */
export interface LoadCall {
  readonly url: string
  readonly apiKey: string
  readonly clients: string
  readonly seconds: string
  /** Submissions per second; a closed loop when left out. */
  readonly rate?: string | undefined
  /** The program's file; a Python hello when left out. */
  readonly file?: string | undefined
  readonly language?: string | undefined
  readonly stdinFile?: string | undefined
  /** Whether to print one JSON object on a terminal too. */
  readonly json: boolean
  /** Ends the load early. The measurements so far are reported. */
  readonly signal: AbortSignal
}

/** The exit status when some submissions were refused, lost, abandoned, never sent, or failed because of the service. */
const incomplete = 1

const redrawMilliseconds = 250

/** Makes a load and prints its results. @returns the exit status, also for callers' mistakes, which are not thrown. */
export async function measureService(call: LoadCall, terminal: Terminal): Promise<number> {
  const complain = (message: string, status: number): number => {
    terminal.stderr.write(`${message}\n`)
    return status
  }
  const [clients, seconds] = [Number(call.clients), Number(call.seconds)]
  const rate = call.rate === undefined ? null : Number(call.rate)
  if (!(Number.isSafeInteger(clients) && clients >= 1 && clients <= 10_000)) {
    return complain('--clients is a whole number from 1 to 10000', exitStatuses.usage)
  }
  if (!(seconds > 0 && seconds <= 86_400)) {
    return complain('--seconds is a number up to 86400', exitStatuses.usage)
  }
  if (rate !== null && !(rate > 0 && rate <= 100_000)) {
    return complain('--rate is a number of submissions a second up to 100000', exitStatuses.usage)
  }
  let url: URL
  let request: SubmissionRequest
  try {
    url = parseServiceUrl(call.url)
    request = await readRequest(call)
  } catch (error) {
    const status = error instanceof TypeError ? exitStatuses.usage : exitStatuses.noInput
    return complain((error as Error).message, status)
  }

  const { apiKey, signal } = call
  const load = startLoad({ url, apiKey, request, clients, seconds, rate, signal })
  const profile = { clients, seconds, rate }
  const state = await watch(load, profile, terminal)
  const { stdout } = terminal
  stdout.write(
    stdout.isTTY === true && !call.json
      ? `${describe(state, profile).join('\n')}\n`
      : `${JSON.stringify(toJson(state, { url, language: request.language, ...profile }))}\n`,
  )
  if (state.refusal !== null) {
    const { status, code, message } = state.refusal
    const isKey = status === 401 || status === 403
    return complain(
      `The service refuses all of them: ${status} ${code} ${printable(message)}`,
      isKey ? exitStatuses.unauthorized : exitStatuses.refused,
    )
  }
  return judge(state)
}

async function readRequest(call: LoadCall): Promise<SubmissionRequest> {
  const { file, language, stdinFile } = call
  if (file !== undefined) return readProgram({ file, language, stdin: stdinFile })
  if (language !== undefined || stdinFile !== undefined) {
    throw new TypeError('--language and --stdin belong to a program: name it with --file')
  }
  return { language: 'python', code: 'print("hello")\n' }
}

function judge({ completed, errors, unfinished, notSent, verdicts }: LoadState): number {
  if (completed === 0) return exitStatuses.unavailable
  const isWhole =
    unfinished + notSent + (verdicts['IE'] ?? 0) === 0 && Object.keys(errors).length === 0
  return isWhole ? 0 : incomplete
}

interface LoadProfile {
  readonly clients: number
  readonly seconds: number
  readonly rate: number | null
}

/** Draws progress on a terminal until the load ends. */
async function watch(load: Load, profile: LoadProfile, { stderr }: Terminal): Promise<LoadState> {
  if (stderr.isTTY !== true) return load.ended
  let drawn = 0
  const erase = (): void => {
    if (drawn > 0) stderr.write(`\u001b[${drawn}A\u001b[J`)
    drawn = 0
  }
  const recent: { at: number; completed: number }[] = []
  const draw = (): void => {
    const state = load.state()
    recent.push({ at: performance.now(), completed: state.completed })
    const lines = describe(state, profile, recent)
    erase()
    stderr.write(`${lines.join('\n')}\n`)
    drawn = lines.length
  }
  const timer = setInterval(draw, redrawMilliseconds)
  draw()
  try {
    return await load.ended
  } finally {
    clearInterval(timer)
    erase()
  }
}

/** Describes a load's state in lines of text. @param recent completions over time; left out for the final report. */
function describe(
  state: LoadState,
  { clients, seconds, rate }: LoadProfile,
  recent?: readonly { readonly at: number; readonly completed: number }[],
): string[] {
  const { elapsedSeconds, latency, queued, running, notSent, unfinished } = state
  const whole = (count: number): string => count.toLocaleString('en')
  const counts = (of: Readonly<Record<string, number>>): string =>
    Object.entries(of)
      .map(([name, count]) => `${printable(name)} ${whole(count)}`)
      .join('  ')
  const times = ({ p50, p90, p95, p99, max }: Percentiles): string =>
    Object.entries({ p50, p90, p95, p99, max })
      .map(([name, value]) => `${name} ${value.toFixed(1)}`)
      .join('  ')
  const how = rate === null ? '' : `, ${rate}/s due`
  const missing = { unfinished, 'not sent': notSent, ...state.errors }
  const missed = Object.fromEntries(Object.entries(missing).filter(([, count]) => count > 0))
  const rates = recent === undefined ? [] : toRates(recent)
  return [
    `${elapsedSeconds.toFixed(1)} of ${seconds} s, ${clients} clients${how}  ${sparkline(rates)}`.trimEnd(),
    `completed   ${whole(state.completed)}  ${state.perSecond.toFixed(1)}/s${
      recent === undefined ? '' : `  ${state.underWay} under way`
    }`,
    `latency ms  ${times(latency)}`,
    `  queued    ${times(queued)}`,
    `  running   ${times(running)}`,
    `verdicts    ${counts(state.verdicts)}`.trimEnd(),
    ...(Object.keys(missed).length > 0 ? [`missing     ${counts(missed)}`] : []),
  ]
}

/** Completions per second in each of the last forty whole seconds. */
function toRates(recent: readonly { readonly at: number; readonly completed: number }[]): number[] {
  const perSecond = 1000 / redrawMilliseconds
  return recent
    .filter((_, n) => n % perSecond === 0)
    .slice(-41)
    .map(({ at, completed }, n, all) => {
      const before = all[n - 1]
      return before === undefined ? 0 : ((completed - before.completed) * 1000) / (at - before.at)
    })
    .slice(1)
}

function sparkline(values: readonly number[]): string {
  const most = Math.max(...values, 1)
  return values.map((value) => '▁▂▃▄▅▆▇█'[Math.min(7, Math.floor((value / most) * 8))]).join('')
}

/** Returns the report as JSON, with names in the style of the API. */
function toJson(
  state: LoadState,
  profile: LoadProfile & { readonly url: URL; readonly language: string },
) {
  return {
    url: profile.url.href,
    language: profile.language,
    clients: profile.clients,
    seconds: profile.seconds,
    rate: profile.rate,
    elapsed_seconds: state.elapsedSeconds,
    sent: state.sent,
    completed: state.completed,
    completed_per_second: state.perSecond,
    latency_ms: state.latency,
    queued_ms: state.queued,
    running_ms: state.running,
    verdicts: state.verdicts,
    errors: state.errors,
    unfinished: state.unfinished,
    not_sent: state.notSent,
  }
}
