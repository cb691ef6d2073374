// Where the queue begins. Its index keeps removed jobs until vacuum, and a look from the start passes them all. So a
// worker remembers for a moment when the first waiting job was due; an earlier one may come, given back or enqueued by
// a slow transaction.

const trustedMilliseconds = 250

export interface QueueFront {
  /** No job of usual priority is known to be due earlier; null: look from the start. */
  readonly since: Date | null
  /** What a question with this `since` found: a job due at `dueAt`; null: none, or unknown. */
  note(since: Date | null, dueAt: Date | null): void
}

export function createQueueFront(): QueueFront {
  let front: Date | null = null
  let knownAt = Number.NEGATIVE_INFINITY
  return {
    get since() {
      return performance.now() - knownAt < trustedMilliseconds ? front : null
    },
    note(since, dueAt) {
      // Later than the known front: no news.
      if (since !== null && dueAt !== null && dueAt >= since) return
      front = dueAt
      knownAt = performance.now()
    },
  }
}
