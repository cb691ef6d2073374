// Waking workers, after the commit of what is enqueued and for many at once: a NOTIFY holds a lock of the whole cluster
// until its transaction is on disk, so that commits with one come one after another. These have transactions of their own,
// which write nothing.
//
// They may fail: a worker that is not told looks by himself within three seconds.
import type { Database } from '#database'

/** How many were committed while a statement was under way: the next tells of them. */
const untold = new WeakMap<Database, number>()

/** Wakes workers for so many executions that were committed. */
export function wakeWorkers(sql: Database, executions: number): void {
  const others = untold.get(sql)
  untold.set(sql, (others ?? 0) + executions)
  if (others === undefined) void tell(sql)
}

async function tell(sql: Database): Promise<void> {
  for (let count = untold.get(sql) ?? 0; count > 0; count = untold.get(sql) ?? 0) {
    untold.set(sql, 0)
    try {
      await sql`select job.wake_workers(${count})`
    } catch {
      // See above.
    }
  }
  untold.delete(sql)
}
