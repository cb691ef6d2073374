// Retention: removes bodies that are old enough, in batches, and gives back the space of the days that are empty then.
// The worker does it each hour (job/retention.ts), an operator whenever he likes.
import type { Database } from '#database'

/** What one pass did. */
export interface Purged {
  /** Submissions whose bodies were removed. */
  readonly submissions: number
  /** Tables that were empty and were dropped. */
  readonly partitions: readonly string[]
}

/** Well under the statement time-out of every process, whatever the bodies' size. */
const batchSize = 1000

/**
 * Purges bodies of submissions that ended more than so many days ago. Unfinished submissions, and those whose webhook is
 * still to be delivered, keep theirs.
 * @param onProgress called after each batch with how many are done.
 * @param signal stops it after the batch that is under way.
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
