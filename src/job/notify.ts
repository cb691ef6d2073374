// Notifies processes of what was committed. By itself, as NOTIFY in a transaction that writes holds a lock of the whole cluster
// until that is on disk. A notification may be lost: waiters look once a second, workers when they renew their lease.
import type { Database } from '#database'

/** Workers listen here for submissions that are to end while they run (#queue). */
const cancelChannel = 'runledger_cancel'

interface EndedSubmission {
  readonly id: string
  /** Channels; null: nobody waits. */
  readonly waiters: readonly string[] | null
  /** As runledger.describe_end has it; when left out, the id alone is sent. */
  readonly notification?: string | null
}

/** Notifies whoever waits for them. Never rejects. */
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

/** Notifies workers, which look whether they run it. Never rejects. */
export async function notifyWorkers(sql: Database, cancelled: string): Promise<void> {
  await sql`select pg_notify(${cancelChannel}, ${cancelled})`.catch(() => {})
}
