// Loads a service as callers do: submissions over HTTP, each waited for.
//
// Closed loop: each client sends its next submission after the last one's end, so figures leave out callers who could
// not ask.
// At a rate: each submission is due at a fixed instant. Latency counts from then, even when no client was free, so a
// stall shows in all that it delayed.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { unlessAborted } from '#abort'
import { submitAndWait } from './request.ts'
import type { LoadTarget } from './request.ts'
import { createTally } from './tally.ts'
import type { LoadState } from './tally.ts'

export interface LoadOptions extends LoadTarget {
  /** Connections; each carries one submission at a time. */
  readonly clients: number
  readonly seconds: number
  /** Submissions due per second; null for a closed loop. */
  readonly rate: number | null
  /** Ends it at once; what is under way is given up. */
  readonly signal: AbortSignal
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

export function startLoad(options: LoadOptions): Load {
  const { url, clients, seconds, rate, signal } = options
  const pool = new Pool(url.origin, {
    connections: clients,
    pipelining: 1,
    headersTimeout: longestAnswerMilliseconds,
    bodyTimeout: longestAnswerMilliseconds,
  })
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1000
  const tally = createTally(endsAt)
  const end = openEnd(seconds, signal)
  let nextDue = 0

  async function sendOne(since: number): Promise<void> {
    tally.noteSent()
    const answer = await unlessAborted(submitAndWait(pool, options, end.givingUp), end.givingUp)
    if (answer === undefined) {
      tally.noteUnfinished()
      return
    }
    tally.noteAnswer(answer, performance.now() - since)
    if ('result' in answer) return
    if (answer.refusal !== undefined) end.close()
    const asked = (answer.retryAfterSeconds ?? 0) * 1000
    // At a rate the schedule sends the next one.
    if (rate === null) await pause(Math.max(asked, pauseMilliseconds), end.closing)
  }

  async function loop(): Promise<void> {
    while (!end.closing.aborted) await sendOne(performance.now())
  }

  async function loopAtRate(perSecond: number): Promise<void> {
    for (;;) {
      const due = startedAt + (nextDue * 1000) / perSecond
      if (due >= endsAt || end.closing.aborted) return
      nextDue += 1
      await pause(due - performance.now(), end.closing)
      if (end.closing.aborted) return
      await sendOne(due)
    }
  }

  function state(): LoadState {
    const until = Math.min(end.closedAt ?? performance.now(), endsAt)
    const elapsedSeconds = (until - startedAt) / 1000
    // In a closed loop whatever is due has been sent. 3.0000000000000004 seconds at ten a second are thirty.
    const due = rate === null ? 0 : Math.ceil(elapsedSeconds * rate - 1e-6)
    return tally.read(elapsedSeconds, due)
  }

  async function run(): Promise<LoadState> {
    await Promise.all(
      Array.from({ length: clients }, () => (rate === null ? loop() : loopAtRate(rate))),
    )
    end.settle()
    await pool.destroy()
    return state()
  }

  return { state, ended: run() }
}

/** When a load ends. */
interface End {
  /** Aborted: no more is sent. */
  readonly closing: AbortSignal
  /** By performance.now(); null: it is not closed. */
  readonly closedAt: number | null
  /** Aborted: what is under way is given up. */
  readonly givingUp: AbortSignal
  close(): void
  /** Nothing is under way any more. */
  settle(): void
}

/** After so many seconds and time for what is under way; or, by the signal, at once. */
function openEnd(seconds: number, signal: AbortSignal): End {
  const closing = new AbortController()
  const givingUp = new AbortController()
  let closedAt: number | null = null
  const close = (): void => {
    closedAt ??= performance.now()
    closing.abort()
  }
  const giveUp = (): void => {
    close()
    givingUp.abort()
  }
  signal.addEventListener('abort', giveUp)
  if (signal.aborted) giveUp()
  const timers = [
    setTimeout(close, seconds * 1000),
    setTimeout(giveUp, seconds * 1000 + drainMilliseconds),
  ]
  return {
    closing: closing.signal,
    givingUp: givingUp.signal,
    get closedAt() {
      return closedAt
    },
    close,
    settle() {
      timers.forEach(clearTimeout)
      signal.removeEventListener('abort', giveUp)
    },
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds <= 0) return
  await sleep(milliseconds, undefined, { signal }).catch(() => {})
}
