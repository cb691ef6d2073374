// Publishes what runs write while somebody watches: their events are appended to runledger.live_output in order. The database
// answers with the next number, so the same events are sent again after a failure or a crash. Output that is not published in
// time is in the final record. A notification that somebody watches proves nothing, because it may get lost and anybody may
// send one. So the table is read too, and nothing is kept of a run that nobody watches there.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#database'
import type { Logger } from '#log'
import type { Attempt } from './attempt.ts'
import { createRunEvents } from './run-events.ts'
import type { NumberedEvent, RunEvents } from './run-events.ts'

/** The output of one attempt. */
export interface RunOutput extends Pick<RunEvents, 'live' | 'follow'> {
  /** Notes that the attempt's result is in the log. */
  end(): void
}

interface OutputPublisher {
  open(attempt: Pick<Attempt, 'submission' | 'run'>): RunOutput
  /** Notes that this submission is watched. It may run on another worker, or not have started yet. */
  noteWatch(submission: string): void
  /** Reads which submissions are watched, because notifications may have been missed. */
  lookAgain(): void
  /** Called by the clock: does the same now and then while anything is watched. */
  tick(): void
}

/** The pause between two statements, each of which is for all runs. */
const pauseMilliseconds = 50
/** The pause after a failure. */
const retryMilliseconds = 500
const lookMilliseconds = 30_000
/** The most watched submissions that are noted. The next look finds others. */
const watchedMost = 50_000
const idLength = 36

interface Run {
  readonly submission: string
  readonly run: string
  readonly events: RunEvents
  /** True when there may be more to publish. */
  isDirty: boolean
  /** The number of the next event that the table expects; null when it is not known. */
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
    // Submissions that are noted meanwhile are kept.
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

  /** Collects the events that are due. A run whose next number is not known sends none, which asks for the number. */
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
        // There may be more events than the statement had room for.
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
      // The reconciler removes the output.
    }
  }

  return {
    open({ submission, run }) {
      const events = createRunEvents(run, () => note(one))
      const one: Run = { submission, run, events, isDirty: false, nextSeq: null, isBase64: false }
      runs.set(run, one)
      // Even without events, the statement notifies the watchers that the run has started.
      if (watched.has(submission)) note(one)
      return {
        live: events.live,
        follow: events.follow,
        end() {
          runs.delete(run)
          // The statement under way may publish the run's first events.
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
