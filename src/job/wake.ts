// Notifications, after the commit of what they tell and many at once: a NOTIFY holds a lock of the whole cluster until its
// transaction is on disk, so that commits with one come one after another. Those here have transactions of their own, which
// write nothing.
//
// None of them may fail: who is not told looks by himself, a worker within three seconds, who waits for an end within one.
import type { Database } from '#database'

/** Collects what is to be told while a statement is under way, and tells it with the next. */
function createTeller<T>(
  tell: (sql: Database, items: readonly T[]) => PromiseLike<unknown>,
): (sql: Database, item: T) => void {
  const waiting = new WeakMap<Database, T[]>()
  const sendAll = async (sql: Database, first: T): Promise<void> => {
    for (let items = [first]; items.length > 0; items = waiting.get(sql) ?? []) {
      waiting.set(sql, [])
      try {
        await tell(sql, items)
      } catch {
        // See above.
      }
    }
    waiting.delete(sql)
  }
  return (sql, item) => {
    const next = waiting.get(sql)
    if (next === undefined) void sendAll(sql, item)
    else next.push(item)
  }
}

/** Wakes workers for so many executions that were committed. */
export const wakeWorkers = createTeller<number>(
  (sql, counts) => sql`select job.wake_workers(${counts.reduce((sum, count) => sum + count, 0)})`,
)

/** Tells who waits for a submission that its end is committed. */
export const notifyEnd = createTeller<string>(
  (sql, submissions) => sql`select runledger.notify_ends(${submissions}::uuid[])`,
)
