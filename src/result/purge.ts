// Removes bodies: one submission's at its caller's wish, and by retention. Retention removes old bodies in batches and drops empty partitions. Workers do it each hour (job/retention.ts),
// operators at will.
import { cancelOnAbort, json } from '#database'
import type { Database } from '#database'
import type { Metadata } from '#event'

interface Purged {
  readonly submissions: number
  /** Dropped, as they were empty. */
  readonly partitions: readonly string[]
}

/** Well under every process's statement time-out, whatever the bodies' size. */
const batchSize = 1000

/**
 * Purges submissions ended more than so many days ago, unless their webhook is undelivered.
 * @param onProgress called with the count so far.
 * @param signal stops it after the running batch.
 */
export async function purgeBodies(
  sql: Database,
  retentionDays: number,
  onProgress: (submissions: number) => void = () => {},
  signal?: AbortSignal,
): Promise<Purged> {
  const olderThan = `${retentionDays * 86_400} seconds`
  let submissions = 0
  for (;;) {
    const [{ count }] = await sql<[{ count: number }]>`
      select runledger.purge_bodies(${olderThan}::interval, ${batchSize}) as count`
    submissions += count
    if (count === 0 || signal?.aborted === true) break
    onProgress(submissions)
  }
  const dropped = await sql<{ name: string }[]>`
    select name from runledger.drop_partitions(${olderThan}::interval) name`
  return { submissions, partitions: dropped.map(({ name }) => name) }
}

/**
 * Removes what was submitted and written, at its caller's wish; hashes and figures stay. Resolved, it is on disk.
 * `undelivered`: its webhook is still to be sent. Null: the account has none such, or it was purged before.
 */
export async function purgeSubmission(
  sql: Database,
  id: string,
  accountId: string,
  metadata: Metadata,
  signal: AbortSignal,
): Promise<'purged' | 'unfinished' | 'undelivered' | null> {
  const query = sql<{ state: 'purged' | 'unfinished' | 'undelivered' | null }[]>`
    select runledger.purge_submission(${id}, ${accountId}, ${json(sql, metadata)}) as state`
  const [row] = await cancelOnAbort(query, signal)
  return row?.state ?? null
}
