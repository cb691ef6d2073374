// Loads a service as callers do: sends submissions over HTTP and waits for each.
//
// Closed loop: each client sends its next submission after the previous one has ended, so the figures leave out callers who
// could not send meanwhile.
// At a rate: each submission is due at a fixed instant. Its latency counts from that instant even when no client was free, so
// a stall shows in all submissions that it delayed.
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
  /** Ends the load at once and abandons the submissions in progress. */
  readonly signal: AbortSignal
}

export interface Load {
  state(): LoadState
  /** Resolves when everything sent is answered or abandoned. */
  readonly ended: Promise<LoadState>
}

// The time for submissions in progress at the end. It is longer than the service holds a request.
const drainMilliseconds = 60_000
// A pause after an error without Retry-After, to spare a service in trouble.
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
    // At a rate the schedule decides when the next submission is sent.
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
    // In a closed loop nothing is ever due. The correction is for rounding: 3.0000000000000004 s at ten per second are thirty.
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

/** The end of a load. */
interface End {
  /** Aborted when no more is sent. */
  readonly closing: AbortSignal
  /** When sending stopped, by performance.now(); null before that. */
  readonly closedAt: number | null
  /** Aborted when the submissions in progress are abandoned. */
  readonly givingUp: AbortSignal
  close(): void
  /** To call when no submission is in progress any more. */
  settle(): void
}

/** Closes after `seconds`, and later abandons what is still in progress. The signal does both at once. */
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
