// Retention of blobs, in batches. Workers do it each hour (job/retention.ts).
import type { Database } from '#database'

/** Well under every process's statement time-out, whatever their size. */
const batchSize = 50

/**
 * Removes blobs unused for more than so many days, unless an unfinished submission names them.
 * @param signal stops it after the running batch.
 * @returns how many.
 */
export async function purgeBlobs(
  sql: Database,
  retentionDays: number,
  signal?: AbortSignal,
): Promise<number> {
  const olderThan = `${retentionDays * 86_400} seconds`
  let purged = 0
  for (;;) {
    const [{ count }] = await sql<[{ count: number }]>`
      select runledger.purge_blobs(${olderThan}::interval, ${batchSize}) as count`
    purged += count
    if (count === 0 || signal?.aborted === true) return purged
  }
}
