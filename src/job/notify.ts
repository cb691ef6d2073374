// Notifies processes of commits. A notification has a statement of its own, because NOTIFY in a transaction that writes holds
// a lock of the whole cluster until the transaction is on disk. A notification may be lost: waiters also look once a second,
// and workers when they renew their lease.
import type { Database } from '#database'

/** Workers listen here for running submissions that must end (#execute). */
export const cancelChannel = 'runledger_cancel'

interface EndedSubmission {
  readonly id: string
  /** The channels to notify; null when nobody waits. */
  readonly waiters: readonly string[] | null
  /** The payload, as runledger.conclude returns it. When it is left out, only the id is sent. */
  readonly notification?: string | null
}

/** Notifies the processes that wait for these submissions. Never rejects. */
export async function notifyWaiters(
  sql: Database,
  ended: readonly EndedSubmission[],
): Promise<void> {
  const channels: string[] = []
  const payloads: string[] = []
  for (const { id, waiters, notification } of ended) {
    for (const channel of waiters ?? []) {
      channels.push(channel)
      payloads.push(notification ?? JSON.stringify({ id }))
    }
  }
  if (channels.length === 0) return
  await sql`
    select pg_notify(channel, payload)
    from unnest(${channels}::text[], ${payloads}::text[]) ended (channel, payload)`.catch(() => {})
}

/** Notifies the workers. Each checks whether it runs the cancelled submission. Never rejects. */
export async function notifyWorkers(sql: Database, cancelled: string): Promise<void> {
  await sql`select pg_notify(${cancelChannel}, ${cancelled})`.catch(() => {})
}
