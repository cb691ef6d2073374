// Ends runs whose callers have cancelled them. A notification proves nothing, as any may be lost and anybody may send one: the
// log says whose end was asked for.
import type { Database } from '#database'
import type { Logger } from '#log'

export interface Cancels {
  /** @returns what aborts when the run is to be stopped; to be forgotten when it is over. */
  watch(submission: string): { readonly signal: AbortSignal; forget(): void }
  /** This submission may have been cancelled; it may be another worker's, or about to begin here. */
  hear(submission: string): void
  /** Any that runs here may have been cancelled. */
  look(): void
}

/** Others' too, since the last look. */
const heardMost = 10_000

export function createCancels(database: Database, log: Logger): Cancels {
  const watched = new Set<{ readonly submission: string; readonly stop: AbortController }>()
  const heard = new Set<string>()

  /** Fails alone: the next look comes with the next renewal of the lease. */
  async function ask(submissions: readonly string[]): Promise<void> {
    if (submissions.length === 0) return
    try {
      const rows = await database<{ id: string }[]>`
        select submission_id as id from runledger.pending
        where submission_id = any (${[...submissions]}::uuid[]) and is_cancelled`
      const cancelled = new Set(rows.map(({ id }) => id))
      for (const { submission, stop } of watched)
        if (cancelled.has(submission)) stop.abort(new Error('cancelled'))
    } catch (error) {
      log.warn({ err: error }, 'cancel.not_read')
    }
  }

  return {
    watch(submission) {
      const run = { submission, stop: new AbortController() }
      watched.add(run)
      // The word was quicker than the answer that began it.
      if (heard.has(submission)) void ask([submission])
      return { signal: run.stop.signal, forget: () => void watched.delete(run) }
    },
    hear(submission) {
      if (watched.values().some((run) => run.submission === submission)) void ask([submission])
      else if (heard.size < heardMost) heard.add(submission)
    },
    look() {
      heard.clear()
      void ask([...watched].map(({ submission }) => submission))
    },
  }
}
