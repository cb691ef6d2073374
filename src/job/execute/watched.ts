// Which submissions somebody watches. A notification is a hint: one may be lost, and anybody may send one, so a worker looks
// into the table when it may have missed one, and is told there too when nobody watches any more (teller.ts).
import type { Database } from '#database'
import type { Logger } from '#log'

export interface WatchedSubmissions {
  has(submission: string): boolean
  /** This submission is watched; it may be another worker's, or yet to begin. */
  hear(submission: string): void
  /** Nobody watches it any more. */
  forget(submission: string): void
  /** Words may have been missed. */
  look(): void
  /** Called by the clock: looks now and then while anything is watched, as words are not repeated. */
  tick(): void
}

/** Others are found by the next look. */
const heardMost = 50_000
const lookMilliseconds = 30_000
const idLength = 36

/** @param onHeard told of each that was not known. */
export function createWatched(
  database: Database,
  log: Logger,
  onHeard: (submission: string) => void,
): WatchedSubmissions {
  let known = new Set<string>()
  let lookedAt = performance.now()

  function hear(submission: string): void {
    if (submission.length !== idLength || known.has(submission)) return
    if (known.size < heardMost) known.add(submission)
    onHeard(submission)
  }

  async function read(): Promise<void> {
    lookedAt = performance.now()
    const before = known
    known = new Set()
    try {
      const rows = await database<{ id: string }[]>`
        select id from runledger.find_watched() found (id)`
      for (const { id } of rows) hear(id)
    } catch (error) {
      log.warn({ err: error }, 'watch.not_read')
      known = known.union(before)
    }
  }

  return {
    has: (submission) => known.has(submission),
    hear,
    forget: (submission) => void known.delete(submission),
    look: () => void read(),
    tick() {
      if (known.size > 0 && performance.now() - lookedAt > lookMilliseconds) void read()
    },
  }
}
