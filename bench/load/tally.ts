// Counts the results of a load's submissions and their latencies, in constant space.
import { createHistogram } from 'node:perf_hooks'
import type { Result } from '#client'
import type { Answer, Refusal } from './request.ts'

/** Milliseconds, to three digits; 0 without a value. */
export interface Percentiles {
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

/** The state of a load so far. */
export interface LoadState {
  readonly elapsedSeconds: number
  readonly sent: number
  /** How many submissions got a result. */
  readonly completed: number
  /** Completions per second, of those within the load's duration. */
  readonly perSecond: number
  readonly underWay: number
  /** From sending, or the due instant, to the whole result. */
  readonly latency: Percentiles
  /** The parts of the latency by the service's clock: first in the queue, then until the end. */
  readonly queued: Percentiles
  readonly running: Percentiles
  readonly verdicts: Readonly<Record<string, number>>
  /** Counts by code; `unreachable` and `timeout` when there was no answer. */
  readonly errors: Readonly<Record<string, number>>
  /** Sent, but unanswered at the end. */
  readonly unfinished: number
  /** Due but never sent, because no client was free. */
  readonly notSent: number
  /** The answer that every further submission would also get, which ended the load; null if there was none. */
  readonly refusal: Refusal | null
}

/** Collects the results of one load. */
export interface Tally {
  noteSent(): void
  /** Counts an answer. @param milliseconds since the submission was sent, or due. */
  noteAnswer(answer: Answer, milliseconds: number): void
  /** Counts a submission that was abandoned. */
  noteUnfinished(): void
  /** Returns the state. @param due how many submissions were due by now; fewer may have been sent. */
  read(elapsedSeconds: number, due: number): LoadState
}

const longestMicroseconds = 24 * 3600 * 1e6

/** Creates a tally. @param endsAt by performance.now(). Later completions count, but not for the rate. */
export function createTally(endsAt: number): Tally {
  const latency = createTimes()
  const queued = createTimes()
  const running = createTimes()
  const verdicts: Record<string, number> = {}
  const codes: Record<string, number> = {}
  let [sent, completed, completedInTime, unfinished] = [0, 0, 0, 0]
  let refusal: Refusal | null = null

  function noteStages({
    created_at: created,
    started_at: started,
    finished_at: finished,
  }: Result): void {
    if (started === null || finished === null) return
    queued.note(Date.parse(started) - Date.parse(created))
    running.note(Date.parse(finished) - Date.parse(started))
  }

  return {
    noteSent() {
      sent += 1
    },
    noteAnswer(answer, milliseconds) {
      if ('code' in answer) {
        add(codes, answer.code)
        refusal ??= answer.refusal ?? null
        return
      }
      completed += 1
      if (performance.now() <= endsAt) completedInTime += 1
      latency.note(milliseconds)
      noteStages(answer.result)
      add(verdicts, answer.result.verdict ?? 'none')
    },
    noteUnfinished() {
      unfinished += 1
    },
    read(elapsedSeconds, due) {
      const answered = completed + unfinished + Object.values(codes).reduce((sum, n) => sum + n, 0)
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
    },
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
