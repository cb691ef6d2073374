// Stops runs whose callers have cancelled them. A notification proves nothing, because it may be lost and anybody may send
// one. So the database is asked which submissions are cancelled.
import type { Database } from '#database'
import type { Logger } from '#log'

export interface Cancels {
  /** @returns a signal that fires when the run must stop. Call `forget` when the run is over. */
  watch(submission: string): { readonly signal: AbortSignal; forget(): void }
  /** Checks a submission that may be cancelled. It may run on another worker. */
  hear(submission: string): void
  /** Checks all runs of this worker. */
  look(): void
}

export function createCancels(database: Database, log: Logger): Cancels {
  const watched = new Set<{ readonly submission: string; readonly stop: AbortController }>()

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
      return { signal: run.stop.signal, forget: () => void watched.delete(run) }
    },
    hear(submission) {
      // Where it is about to start, the next look finds it.
      if (watched.values().some((run) => run.submission === submission)) void ask([submission])
    },
    look: () => void ask([...watched].map(({ submission }) => submission)),
  }
}
