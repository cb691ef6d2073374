// Where the queue begins. Its index keeps removed jobs until vacuum, and a look from the start passes them all. So a
// worker remembers for a moment what the first waiting job's turn was. It is the one of the look before last: a submission
// that is being stored at this moment may have got a turn that is earlier than what is taken meanwhile.

const trustedMilliseconds = 125
/** Storing a submission takes less. */
const settledMilliseconds = 100

export interface QueueFront {
  /** No job of usual priority is known to be due earlier; null: look from the start. */
  readonly since: Date | null
  /** What a question with this `since` found: a job due at `dueAt`; null: none, or unknown. */
  note(since: Date | null, dueAt: Date | null): void
}

export function createQueueFront(): QueueFront {
  let front: Date | null = null
  let knownAt = Number.NEGATIVE_INFINITY
  /** The first that the last settled look from the start found. */
  let found: { readonly dueAt: Date; readonly at: number } | null = null
  return {
    get since() {
      return performance.now() - knownAt < trustedMilliseconds ? front : null
    },
    note(since, dueAt) {
      // Later than the known front: no news.
      if (since !== null && dueAt !== null && dueAt >= since) return
      const now = performance.now()
      if (dueAt === null) {
        front = null
        found = null
      } else if (since !== null || found === null) {
        front = since === null ? null : dueAt
        found = { dueAt, at: now }
        knownAt = now
      } else if (now - found.at >= settledMilliseconds) {
        front = dueAt < found.dueAt ? dueAt : found.dueAt
        found = { dueAt, at: now }
        knownAt = now
      } else if (dueAt < found.dueAt) {
        found = { dueAt, at: found.at }
      }
    },
  }
}
