// Publishes what runs write, while they run and somebody watches: their events are appended to runledger.live_output in order.
// The answer is the number that comes next, so after a failure or a crash the same events are sent again. What is not
// published in time is in the record of the end. A notification that somebody watches proves nothing: it may get lost, and anybody
// may send one, so the table is read too, and nothing is kept of a run that nobody watches there.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#database'
import type { Logger } from '#log'
import type { Attempt } from './attempt.ts'
import { createRunEvents } from './run-events.ts'
import type { NumberedEvent, RunEvents } from './run-events.ts'

/** Of one attempt. */
export interface RunOutput extends Pick<RunEvents, 'live' | 'follow'> {
  /** The attempt's end is in the log. */
  end(): void
}

interface OutputPublisher {
  open(attempt: Pick<Attempt, 'submission' | 'run'>): RunOutput
  /** This submission is watched; it may be another worker's, or yet to start. */
  noteWatch(submission: string): void
  /** Looks which are: notifications may have been missed. */
  lookAgain(): void
  /** Called by the clock: does so now and then while anything is watched. */
  tick(): void
}

/** Between two statements, each of which is for all runs. */
const pauseMilliseconds = 50
/** After a failure. */
const retryMilliseconds = 500
const lookMilliseconds = 30_000
/** Others are found by the next look. */
const watchedMost = 50_000
const idLength = 36

interface Run {
  readonly submission: string
  readonly run: string
  readonly events: RunEvents
  /** There may be more to publish. */
  isDirty: boolean
  /** Of the event that the table has next; null: not known. */
  nextSeq: number | null
  isBase64: boolean
}

interface Answer {
  readonly run: string
  readonly next_seq: number | null
  readonly is_base64: boolean
}

export function createOutputPublisher(database: Database, log: Logger): OutputPublisher {
  const runs = new Map<string, Run>()
  const watched = new Set<string>()
  let lookedAt = performance.now()
  let isPublishing = false
  let sent = Promise.resolve()

  function noteWatch(submission: string): void {
    if (submission.length !== idLength || watched.has(submission)) return
    if (watched.size < watchedMost) watched.add(submission)
    for (const one of runs.values()) if (one.submission === submission) note(one)
  }

  async function look(): Promise<void> {
    lookedAt = performance.now()
    // What is heard meanwhile is kept.
    const before = new Set(watched)
    try {
      const rows = await database<{ id: string }[]>`
        select distinct submission_id as id from runledger.watch where expires_at > now()`
      const listed = new Set(rows.map(({ id }) => id))
      for (const id of before.difference(listed)) watched.delete(id)
      listed.forEach(noteWatch)
    } catch (error) {
      log.warn({ err: error }, 'watch.not_read')
    }
  }

  function note(one: Run): void {
    one.isDirty = true
    if (!isPublishing && watched.has(one.submission)) void publish()
  }

  async function publish(): Promise<void> {
    isPublishing = true
    for (let batch = collect(); batch.length > 0; batch = collect()) {
      const pause = sleep(pauseMilliseconds)
      sent = send(batch)
      await sent
      await pause
    }
    isPublishing = false
  }

  /** Events that are due; of a run whose next one is not known none, which asks for it. */
  function collect(): { readonly one: Run; readonly events: readonly NumberedEvent[] }[] {
    return [...runs.values()].flatMap((one) => {
      if (!one.isDirty || !watched.has(one.submission)) return []
      one.isDirty = false
      if (one.nextSeq === null) return [{ one, events: [] }]
      const events = one.events.take(one.nextSeq, one.isBase64)
      return events.length === 0 ? [] : [{ one, events }]
    })
  }

  async function send(batch: ReturnType<typeof collect>): Promise<void> {
    const published = batch.map(({ one: { submission, run }, events }) => ({
      submission,
      run,
      events,
    }))
    try {
      const answers = await database<Answer[]>`
        select * from runledger.publish_output(${JSON.stringify(published)}::text::jsonb)`
      for (const { one } of batch) {
        const answer = answers.find(({ run }) => run === one.run)
        one.nextSeq = answer?.next_seq ?? null
        one.isBase64 = answer?.is_base64 === true
        // There may be more than it had room for.
        one.isDirty = true
        if (one.nextSeq === null) watched.delete(one.submission)
      }
    } catch (error) {
      log.warn({ err: error }, 'output.not_published')
      for (const { one } of batch) one.isDirty = true
      await sleep(retryMilliseconds)
    }
  }

  async function forget({ submission, run, nextSeq }: Run): Promise<void> {
    if (nextSeq === null) return
    try {
      await database`select runledger.forget_output(${submission}, ${run})`
    } catch {
      // The reconciler removes it.
    }
  }

  return {
    open({ submission, run }) {
      const events = createRunEvents(run, () => note(one))
      const one: Run = { submission, run, events, isDirty: false, nextSeq: null, isBase64: false }
      runs.set(run, one)
      // That it runs is worth a notification.
      if (watched.has(submission)) note(one)
      return {
        live: events.live,
        follow: events.follow,
        end() {
          runs.delete(run)
          // What is being sent now may be its first.
          void sent.then(() => forget(one))
        },
      }
    },
    noteWatch,
    lookAgain: () => void look(),
    tick() {
      if (watched.size > 0 && performance.now() - lookedAt > lookMilliseconds) void look()
    },
  }
}
