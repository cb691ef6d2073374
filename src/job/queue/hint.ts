// Whether to ask for a job, as graphile-worker asks after each one, mostly in vain. Whoever found the queue empty and
// took all jobs announced since need not ask.
//
// Unannounced jobs (lost notifications, later attempts, failed transactions of others) are found within three seconds:
// graphile-worker looks every two, and `longestMilliseconds` lets one look through each second. Whoever finds one asks
// on until there is none.

export interface QueueHint {
  readonly isWorthAsking: boolean
  /** Left out: an unknown number. */
  noteAnnounced(jobs?: number): void
  poll<T>(ask: () => Promise<T | null>): Promise<T | null>
}

/** A queue found empty so long ago is asked again. */
const longestMilliseconds = 1000

export function createQueueHint(): QueueHint {
  let announced = 0
  /** Announced jobs that are taken, by us or others. */
  let gone = 0
  /** How often the number of jobs became unknown, and the last of these times that is settled. */
  let unclear = 1
  let cleared = 0
  let emptyAt = Number.NEGATIVE_INFINITY
  return {
    get isWorthAsking() {
      const isDue = performance.now() - emptyAt >= longestMilliseconds
      return announced > gone || unclear > cleared || isDue
    },
    noteAnnounced(jobs) {
      if (jobs === undefined) unclear += 1
      else announced += jobs
    },
    async poll(ask) {
      // The answer says nothing of later announcements.
      const before = { announced, unclear, at: performance.now() }
      const found = await ask()
      if (found !== null && announced > gone) {
        gone += 1
      } else if (found !== null) {
        unclear += 1 // unannounced: there may be more
      } else {
        gone = Math.max(gone, before.announced)
        cleared = Math.max(cleared, before.unclear)
        emptyAt = before.at
      }
      return found
    },
  }
}
