// Wakes workers after the commit, for many jobs at once: NOTIFY holds a lock of the whole cluster until its transaction
// is on disk, so commits with one queue up. These transactions write nothing, and may fail: workers look by themselves
// within three seconds.
import type { Database } from '#database'

/** Committed while a statement was under way; the next one announces them. */
const untold = new WeakMap<Database, number>()

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
      // Workers look by themselves.
    }
  }
  untold.delete(sql)
}
