// Turns a submission's events into the steps of its timeline: what happened when, and how long it took.
import type { ExceededLimit, LedgerEvent, TestResult } from '#client'
import { count, formatBytes, judgeVerdict, nameOutcome, nameTest, verdictNames } from './format.ts'
import type { Tone } from './format.ts'

export interface Step {
  /** When the step happened; null for a part of another step. */
  readonly at: string | null
  readonly title: string
  readonly detail: string
  /** How long the step took; null for a moment. */
  readonly seconds: number | null
  readonly tone: Tone
  /** The hash of the step's event; null for a part. */
  readonly hash: string | null
}

interface Phase {
  readonly exit_code: number
  readonly wall_time: number
  readonly memory_peak: number
  readonly cached?: boolean
}

type TestPhase = Partial<Phase> & {
  readonly verdict: TestResult['verdict']
  readonly limit?: ExceededLimit
}

/** What the events may say about the end of an attempt. */
interface Ending {
  readonly verdict?: keyof typeof verdictNames
  readonly compile?: Phase | null
  readonly run?: Phase | null
  readonly tests?: readonly TestPhase[]
  readonly lost?: string
}

/** @param names of the tests, from the record. @param isJudged an output was expected. */
export function describeStory(
  events: readonly LedgerEvent[],
  names: readonly (string | null)[] = [],
  isJudged = true,
): Step[] {
  // When the submission started to wait for a worker.
  let waiting: string | null = null
  const steps = (event: LedgerEvent): Step[] => {
    const { type, at, data } = event
    if (type === 'execution.started') {
      const waited = waiting === null ? null : secondsBetween(waiting, at)
      waiting = null
      const before = waited === null ? [] : [step(null, 'Waited for a worker', { seconds: waited })]
      return [
        ...before,
        step(at, `Attempt ${say(data['attempt'])}`, { detail: say(data['runtime']) }),
      ]
    }
    if (type === 'submission.received' || type === 'execution.interrupted') waiting = at
    return describe(event, names, isJudged)
  }
  return events.flatMap((event) =>
    steps(event).map((one) => (one.at === null ? one : { ...one, hash: event.hash })),
  )
}

function describe(
  { type, at, data }: LedgerEvent,
  names: readonly (string | null)[],
  isJudged: boolean,
): Step[] {
  switch (type) {
    case 'submission.received': {
      const bytes = (data['code'] as { bytes?: number } | undefined)?.bytes
      const size = bytes === undefined ? '' : `, ${formatBytes(bytes)}`
      return [step(at, 'Received', { detail: `${say(data['language'])}${size}` })]
    }
    case 'execution.completed': {
      const ending = data as Ending
      const verdict = ending.verdict ?? 'IE'
      const { word, tone } = nameOutcome({ status: 'completed', verdict }, isJudged)
      return [...describePhases(ending, names), step(at, word, { tone })]
    }
    case 'execution.interrupted':
      return [step(at, 'Interrupted', { detail: losses[say(data['reason'])] ?? '', tone: 'fault' })]
    case 'execution.abandoned':
      return [step(at, 'Abandoned', { detail: 'Every attempt was lost.', tone: 'fault' })]
    case 'submission.cancel_requested':
      return [step(at, 'Cancellation requested')]
    case 'submission.cancelled':
      return [...describePhases(data, names), step(at, 'Cancelled')]
    case 'submission.purged': {
      const isAsked = data['reason'] === 'caller'
      const detail = isAsked ? 'As its caller asked.' : 'The retention period was over.'
      return [step(at, 'Outputs removed', { detail })]
    }
    case 'webhook.attempt_failed':
    case 'webhook.delivered': {
      const tone = type === 'webhook.delivered' ? 'good' : 'bad'
      return [step(at, `Webhook, attempt ${say(data['attempt'])}`, { ...attempt(data), tone })]
    }
    case 'webhook.abandoned':
      return [step(at, 'Webhook abandoned', { detail: say(data['reason']), tone: 'bad' })]
    case 'webhook.replayed':
      return [step(at, 'Webhook sent again')]
    default:
      // An event of a later release.
      return [step(at, type)]
  }
}

const losses: Readonly<Record<string, string>> = {
  sandbox_failed: 'The sandbox failed.',
  worker_lost: 'The worker was lost.',
  shutdown: 'The worker was shut down.',
  lease_expired: 'The worker lost its lease and stopped.',
  superseded: 'The worker started it again.',
}

function describePhases(
  { compile, run, tests }: Ending,
  names: readonly (string | null)[],
): Step[] {
  const steps: Step[] = []
  if (compile !== null && compile !== undefined) {
    const cached = compile.cached === true
    steps.push(
      step(null, cached ? 'Compiled before' : 'Compiled', {
        detail: cached ? 'Reused from an earlier submission.' : usage(compile),
        seconds: cached ? null : compile.wall_time,
        tone: compile.exit_code === 0 ? 'none' : 'bad',
      }),
    )
  }
  if (tests === undefined) {
    if (run !== null && run !== undefined)
      steps.push(step(null, 'Ran', { detail: usage(run), seconds: run.wall_time }))
    return steps
  }
  const skipped = tests.filter(({ verdict }) => verdict === null).length
  for (const [index, { verdict, wall_time: seconds = 0 }] of tests.entries()) {
    if (verdict === null) continue
    const title = `Test ${nameTest(names[index] ?? null, index)}`
    const tone = judgeVerdict(verdict)
    steps.push(step(null, title, { detail: verdictNames[verdict], seconds, tone }))
  }
  if (skipped > 0) steps.push(step(null, `${count(skipped, 'test')} not run`))
  return steps
}

function usage({ exit_code: code, memory_peak: bytes }: Phase): string {
  return `exit code ${code}, ${formatBytes(bytes)}`
}

function attempt(data: LedgerEvent['data']): { detail: string; seconds: number | null } {
  const { outcome, status, duration_seconds: seconds } = data
  return {
    detail: typeof status === 'number' ? `${say(outcome)}, status ${status}` : say(outcome),
    seconds: typeof seconds === 'number' ? seconds : null,
  }
}

function step(at: string | null, title: string, more: Partial<Step> = {}): Step {
  return { at, title, detail: '', seconds: null, tone: 'none', hash: null, ...more }
}

function say(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function secondsBetween(from: string, to: string): number {
  return Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000)
}
