// Notifies processes of commits; runledger.conclude_and_notify notifies of results. A notification has a transaction of its own,
// because NOTIFY in one that writes holds a lock of the whole cluster until that is on disk. It may be lost: waiters also look
// once a second, and workers when they renew their lease.
import type { Database } from '#database'

/** Workers listen here for running submissions that must end (#execute). */
export const cancelChannel = 'runledger_cancel'

/**
 * Notifies the processes that wait for a submission that has ended without a result. Never rejects.
 * @param waiters their channels; null when nobody waits.
 */
export async function notifyWaiters(
  sql: Database,
  id: string,
  waiters: readonly string[] | null,
): Promise<void> {
  if (waiters === null) return
  await sql`
    select pg_notify(channel, ${JSON.stringify({ id })}) from unnest(${waiters}::text[]) channel`.catch(
    () => {},
  )
}

/** Notifies the workers. Each checks whether it runs the cancelled submission. Never rejects. */
export async function notifyWorkers(sql: Database, cancelled: string): Promise<void> {
  await sql`select pg_notify(${cancelChannel}, ${cancelled})`.catch(() => {})
}
