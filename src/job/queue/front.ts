// Where the queue begins: the index that hands out jobs keeps those that are gone until it is vacuumed, and who looks from
// its very start passes all of them by, for every job. So a worker remembers for a moment when the first that waited was
// due.
//
// A moment, as one that is due earlier may come: given back by others, or enqueued by a transaction that took its time.

const trustedMilliseconds = 250

/** What one worker process knows of it. */
export interface QueueFront {
  /** None that waits at the usual priority is due before, as far as we know; null: look from the start. */
  readonly since: Date | null
  /** What was asked with this `since` found a job that was due then; null: none, or nothing is known of it. */
  note(since: Date | null, dueAt: Date | null): void
}

/** Creates it: nothing is known yet. */
export function createQueueFront(): QueueFront {
  let front: Date | null = null
  let knownAt = Number.NEGATIVE_INFINITY
  return {
    get since() {
      return performance.now() - knownAt < trustedMilliseconds ? front : null
    },
    note(since, dueAt) {
      // Found from there on, it says nothing new.
      if (since !== null && dueAt !== null && dueAt >= since) return
      front = dueAt
      knownAt = performance.now()
    },
  }
}
