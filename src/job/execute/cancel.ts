// Stops runs whose callers have cancelled them. A notification proves nothing, because it may be lost and anybody may send
// one. So the database is asked which submissions are cancelled.
import type { Database } from '#database'
import type { Logger } from '#log'

export interface Cancels {
  /** @returns a signal that fires when the run must stop. Call `forget` when the run is over. */
  watch(submission: string): { readonly signal: AbortSignal; forget(): void }
  /** Notes that this submission may be cancelled. It may run on another worker, or be about to start here. */
  hear(submission: string): void
  /** Checks all runs of this worker. */
  look(): void
}

/** The most submissions noted since the last look, other workers' included. */
const heardMost = 10_000

export function createCancels(database: Database, log: Logger): Cancels {
  const watched = new Set<{ readonly submission: string; readonly stop: AbortController }>()
  const heard = new Set<string>()

  /** Asks which submissions are cancelled. A failure is only logged: the next look comes with the next renewal of the lease. */
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
      // The notification came before the answer that started the run.
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
