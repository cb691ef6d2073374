// Removes bodies: one submission's at its caller's request, and old ones by retention. Retention removes bodies in batches and
// drops empty partitions. Workers run it every hour (job/retention.ts), and operators can run it at any time.
import { cancelOnAbort, json } from '#database'
import type { Database } from '#database'
import type { Metadata } from '#event'

interface Purged {
  readonly submissions: number
  /** The empty partitions that were dropped. */
  readonly partitions: readonly string[]
}

/** Fewer where bodies are large, so that a statement stays well under every process's time-out (runledger.purge_bodies). */
const batchSize = 1000

/**
 * Purges submissions that ended more than `retentionDays` ago, unless their webhook is undelivered.
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
  const partitions: string[] = []
  // Each in a transaction of its own, because a dropped partition locks its table until the commit.
  while (signal?.aborted !== true) {
    const [{ name }] = await sql<[{ name: string | null }]>`
      select runledger.drop_partition(${olderThan}::interval) as name`
    if (name === null) break
    partitions.push(name)
  }
  return { submissions, partitions }
}

/**
 * Removes a submission's bodies and outputs at its caller's request. Hashes and figures remain. The purge is on disk when
 * the promise resolves. `undelivered`: the webhook is not sent yet. Null: the account has no such submission, or it was
 * purged before.
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
