// Stores, names and purges blobs. A blob is stored whole or not at all.
import { cancelOnAbort, errorCode, sqlState } from '#database'
import type { Database, Queryable } from '#database'

/** The most bytes of a blob. The database has the same bound. */
export const blobBytesMost = 16 * 1024 * 1024

/** Few chunks are in memory at a time, each also as hexadecimal text. */
const chunkBytes = 256 * 1024

/** Blobs removed by one statement, which stays well below every process's statement time-out, whatever their size. */
const purgedAtOnce = 50

/** True for a SHA-256 in lower-case hexadecimal. Upper case is refused, so that a blob has one name. */
export function isBlobName(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}

/** Returns a blob's name as the database has it. */
export function toDigest(name: string): Buffer {
  return Buffer.from(name, 'hex')
}

/** `kept`: the blob existed. `quota_exceeded`: the account has no room for it. */
export type Stored = 'new' | 'kept' | 'quota_exceeded'

/**
 * Stores bytes whose SHA-256 is `name`, or marks the existing blob as used.
 * @param signal ends the call: it rejects, and nothing is stored.
 */
export async function storeBlob(
  database: Database,
  apiKeyId: string,
  name: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<Stored> {
  const digest = toDigest(name)
  const begin = (sql: Queryable) =>
    sql<{ is_new: boolean }[]>`
      select runledger.store_blob(${apiKeyId}, ${digest}, ${bytes.length}, ${bytes.subarray(0, chunkBytes)}) as is_new`
  signal.throwIfAborted()
  try {
    if (bytes.length <= chunkBytes) {
      const [row] = await cancelOnAbort(begin(database), signal)
      return row?.is_new === true ? 'new' : 'kept'
    }
    return await database.begin(async (transaction) => {
      const [row] = await begin(transaction)
      if (row?.is_new !== true) return 'kept'
      for (let at = chunkBytes; at < bytes.length; at += chunkBytes) {
        signal.throwIfAborted()
        const chunk = bytes.subarray(at, at + chunkBytes)
        await transaction`
          select runledger.add_blob_chunk(${apiKeyId}, ${digest}, ${at / chunkBytes}, ${chunk})`
      }
      return 'new'
    })
  } catch (error) {
    if (errorCode(error) === sqlState.quotaExceeded) return 'quota_exceeded'
    throw error
  }
}

/**
 * Gives a blob of the key's account an id, which is taken from another blob that has it. The id goes with the blob, or
 * when the blob has 64 younger ids.
 */
export async function nameFile(
  database: Database,
  apiKeyId: string,
  id: string,
  sha256: string,
): Promise<void> {
  await database`select runledger.name_file(${apiKeyId}, ${id}, ${toDigest(sha256)})`
}

/**
 * Removes, in batches, blobs that were unused for more than `retentionDays`, unless an unfinished submission names them.
 * Workers call it every hour (job/retention.ts).
 * @param signal stops it after the running batch.
 * @returns how many blobs were removed.
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
      select runledger.purge_blobs(${olderThan}::interval, ${purgedAtOnce}) as count`
    purged += count
    if (count === 0 || signal?.aborted === true) return purged
  }
}
