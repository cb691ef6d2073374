// Loads a service as callers do: submissions over HTTP, each waited for.
//
// Closed loop: each client sends its next submission after the last one's end, so figures leave out callers who could
// not ask.
// At a rate: each submission is due at a fixed instant. Latency counts from then, even when no client was free, so a
// stall shows in all that it delayed.
import { createHistogram } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool, errors } from 'undici'
import type { Result, SubmissionRequest } from '#client'

export interface LoadOptions {
  /** As of parseServiceUrl. */
  readonly url: URL
  readonly apiKey: string
  readonly request: SubmissionRequest
  /** Connections; each carries one submission at a time. */
  readonly clients: number
  readonly seconds: number
  /** Submissions due per second; null for a closed loop. */
  readonly rate: number | null
  /** Ends it at once; what is under way is given up. */
  readonly signal: AbortSignal
}

/** Milliseconds, to three digits; 0 without a value. */
export interface Percentiles {
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export interface LoadState {
  readonly elapsedSeconds: number
  readonly sent: number
  /** Came to a result. */
  readonly completed: number
  /** Within the seconds asked for. */
  readonly perSecond: number
  readonly underWay: number
  /** From sending, or the due instant, to the whole result. */
  readonly latency: Percentiles
  /** Its parts by the service's clock: in the queue, then to the end. */
  readonly queued: Percentiles
  readonly running: Percentiles
  readonly verdicts: Readonly<Record<string, number>>
  /** By code; `unreachable` and `timeout` without an answer. */
  readonly errors: Readonly<Record<string, number>>
  /** Sent, and unanswered at the end. */
  readonly unfinished: number
  /** Due but never sent, as no client was free. */
  readonly notSent: number
  /** Every further submission would get this answer; it ended the load. */
  readonly refusal: Refusal | null
}

export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

export interface Load {
  state(): LoadState
  /** Resolves when everything sent is answered or given up. */
  readonly ended: Promise<LoadState>
}

// For those under way at the end; longer than the service holds a request.
const drainMilliseconds = 60_000
// Spares a service in trouble that says no Retry-After.
const pauseMilliseconds = 250
const longestAnswerMilliseconds = 120_000
const longestMicroseconds = 24 * 3600 * 1e6

export function startLoad(options: LoadOptions): Load {
  const { url, clients, seconds, rate, signal } = options
  const pool = new Pool(url.origin, {
    connections: clients,
    pipelining: 1,
    headersTimeout: longestAnswerMilliseconds,
    bodyTimeout: longestAnswerMilliseconds,
  })
  const latency = createTimes()
  const queued = createTimes()
  const running = createTimes()
  const verdicts: Record<string, number> = {}
  const codes: Record<string, number> = {}
  let [sent, completed, completedInTime, unfinished, nextDue] = [0, 0, 0, 0, 0]
  let refusal: Refusal | null = null

  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1000
  /** No more is sent. */
  const closing = new AbortController()
  let closedAt: number | null = null
  closing.signal.addEventListener('abort', () => (closedAt = performance.now()))
  /** No more is waited for. */
  const givingUp = new AbortController()
  signal.addEventListener('abort', giveUp)
  if (signal.aborted) giveUp()
  const endTimer = setTimeout(() => closing.abort(), seconds * 1000)
  const drainTimer = setTimeout(giveUp, seconds * 1000 + drainMilliseconds)

  function giveUp(): void {
    closing.abort()
    givingUp.abort()
  }

  async function sendOne(since: number): Promise<void> {
    sent += 1
    let answer: Answer
    try {
      answer = await submitAndWait(pool, options, givingUp.signal)
    } catch (error) {
      if (givingUp.signal.aborted) {
        unfinished += 1
        return
      }
      answer = { code: error instanceof errors.HeadersTimeoutError ? 'timeout' : 'unreachable' }
    }
    if ('result' in answer) {
      const now = performance.now()
      completed += 1
      if (now <= endsAt) completedInTime += 1
      latency.note(now - since)
      noteStages(answer.result)
      add(verdicts, answer.result.verdict ?? 'none')
      return
    }
    add(codes, answer.code)
    if (answer.refusal !== undefined) {
      refusal ??= answer.refusal
      closing.abort()
    }
    const asked = (answer.retryAfterSeconds ?? 0) * 1000
    // At a rate the schedule sends the next one.
    if (rate === null) await pause(Math.max(asked, pauseMilliseconds), closing.signal)
  }

  function noteStages({
    created_at: created,
    started_at: started,
    finished_at: finished,
  }: Result): void {
    if (started === null || finished === null) return
    queued.note(Date.parse(started) - Date.parse(created))
    running.note(Date.parse(finished) - Date.parse(started))
  }

  async function loop(): Promise<void> {
    while (!closing.signal.aborted) await sendOne(performance.now())
  }

  async function loopAtRate(perSecond: number): Promise<void> {
    for (;;) {
      const due = startedAt + (nextDue * 1000) / perSecond
      if (due >= endsAt || closing.signal.aborted) return
      nextDue += 1
      await pause(due - performance.now(), closing.signal)
      if (closing.signal.aborted) return
      await sendOne(due)
    }
  }

  function state(): LoadState {
    const until = Math.min(closedAt ?? performance.now(), endsAt)
    const elapsedSeconds = (until - startedAt) / 1000
    const answered = completed + unfinished + Object.values(codes).reduce((sum, n) => sum + n, 0)
    const due = rate === null ? sent : Math.ceil(elapsedSeconds * rate)
    return {
      elapsedSeconds,
      sent,
      completed,
      perSecond: elapsedSeconds > 0 ? completedInTime / elapsedSeconds : 0,
      underWay: sent - answered,
      latency: latency.read(),
      queued: queued.read(),
      running: running.read(),
      verdicts: { ...verdicts },
      errors: { ...codes },
      unfinished,
      notSent: Math.max(0, due - sent),
      refusal,
    }
  }

  async function run(): Promise<LoadState> {
    await Promise.all(
      Array.from({ length: clients }, () => (rate === null ? loop() : loopAtRate(rate))),
    )
    clearTimeout(endTimer)
    clearTimeout(drainTimer)
    signal.removeEventListener('abort', giveUp)
    await pool.destroy()
    return state()
  }

  return { state, ended: run() }
}

type Answer =
  | { readonly result: Result }
  | {
      readonly code: string
      readonly retryAfterSeconds?: number
      /** Every further submission would be answered so. */
      readonly refusal?: Refusal
    }

async function submitAndWait(
  pool: Pool,
  { url, apiKey, request }: LoadOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' }
  let next: { method: 'GET' | 'POST'; path: string; body: string | null } = {
    method: 'POST',
    path: 'api/submit?wait=true',
    body: JSON.stringify(request),
  }
  for (;;) {
    const path = `${url.pathname}${next.path}`
    const {
      statusCode,
      headers: answered,
      body,
    } = await pool.request({ ...next, path, headers, signal })
    const record = parse(await body.text())
    const status = record['status']
    if (
      statusCode === 200 &&
      typeof status === 'string' &&
      !['queued', 'running'].includes(status)
    ) {
      return { result: record as unknown as Result }
    }
    const id = record['id']
    // The submission goes on, and so does the wait.
    const isUnderWay = (statusCode === 408 || statusCode === 200) && typeof id === 'string'
    if (!isUnderWay) return describeError(statusCode, record, answered['retry-after'])
    next = { method: 'GET', path: `api/result/${encodeURIComponent(id)}?wait=true`, body: null }
  }
}

function describeError(
  status: number,
  { error, message }: Readonly<Record<string, unknown>>,
  retryAfter: string | string[] | undefined,
): Answer {
  // Shown on terminals, so only in the contract's form.
  const code = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? error : `http_${status}`
  const seconds = Number(retryAfter ?? Number.NaN)
  const isForAll = status >= 300 && status < 500 && status !== 408 && status !== 429
  return {
    code,
    ...(Number.isFinite(seconds) && { retryAfterSeconds: seconds }),
    ...(isForAll && {
      refusal: { status, code, message: typeof message === 'string' ? message : '' },
    }),
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return value instanceof Object ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

interface Times {
  note(milliseconds: number): void
  read(): Percentiles
}

/** Keeps three digits of each value in constant space. */
function createTimes(): Times {
  const histogram = createHistogram({ lowest: 1, highest: longestMicroseconds, figures: 3 })
  const percentile = (share: number): number =>
    histogram.count === 0 ? 0 : histogram.percentile(share) / 1000
  return {
    note: (milliseconds) => {
      const microseconds = Math.round(milliseconds * 1000)
      histogram.record(Math.min(Math.max(microseconds, 1), longestMicroseconds))
    },
    read: () => ({
      p50: percentile(50),
      p90: percentile(90),
      p95: percentile(95),
      p99: percentile(99),
      max: percentile(100),
    }),
  }
}

function add(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds <= 0) return
  await sleep(milliseconds, undefined, { signal }).catch(() => {})
}
