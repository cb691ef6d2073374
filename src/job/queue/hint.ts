// Whether it is worth asking for a job. graphile-worker asks again after each one, mostly in vain, and just while the result
// of that one is being stored. Who has found the queue empty and taken since what was announced need not ask.
//
// A hint, like the announcements: what nobody was told of (they may be lost, a later attempt becomes due, another's
// transaction fails) is found within three seconds, as graphile-worker looks every two by itself and no second is left out.
// Who has found such a job asks on until there is none.

/** What one worker process expects of its queue. */
export interface QueueHint {
  readonly isWorthAsking: boolean
  /** So many jobs were announced; left out, it is not known how many there are. */
  noteAnnounced(jobs?: number): void
  /** Asks, and learns from the answer. */
  learnFrom<T>(ask: () => Promise<T | null>): Promise<T | null>
}

/** A queue that was found empty so long ago is asked again. */
const longestMilliseconds = 1000

/** Creates it: nothing is known yet. */
export function createQueueHint(): QueueHint {
  let announced = 0
  /** How many of those announced are known to be taken, by us or others. */
  let gone = 0
  /** How often it became unclear what there is, and how many of these times it has become clear again. */
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
    async learnFrom(ask) {
      // What is announced meanwhile the answer says nothing of.
      const before = { announced, unclear, at: performance.now() }
      const found = await ask()
      if (found !== null && announced > gone) {
        gone += 1
      } else if (found !== null) {
        unclear += 1 // nobody had told of it: there may be more
      } else {
        gone = Math.max(gone, before.announced)
        cleared = Math.max(cleared, before.unclear)
        emptyAt = before.at
      }
      return found
    },
  }
}
