// Writes blobs: whole, or nothing of them. What they are called, and how they go.
import { cancelOnAbort, errorCode, sqlState } from '#database'
import type { Database, Queryable } from '#database'

/** The most that one may be. As the database has it too. */
export const blobBytesMost = 16 * 1024 * 1024

/** Beside one another few of them are held in memory, each as hexadecimal text too. */
const chunkBytes = 256 * 1024

/** That go at once: well under every process's statement time-out, whatever their size. */
const purgedAtOnce = 50

/** True for a SHA-256 in hexadecimal, in lower case: a blob has one name. */
export function isBlobName(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}

/** As the database has it. */
export function toDigest(name: string): Buffer {
  return Buffer.from(name, 'hex')
}

/** `kept`: it was there. `quota_exceeded`: the account has no room for it. */
export type Stored = 'new' | 'kept' | 'quota_exceeded'

/**
 * Stores bytes whose SHA-256 is `name`, or notes that they are used.
 * @param signal ends it: it rejects, and nothing is stored.
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

/** Calls a blob of the key's account by an id, also if another had it. It goes with its blob, or when the blob has 64 younger ones. */
export async function nameFile(
  database: Database,
  apiKeyId: string,
  id: string,
  sha256: string,
): Promise<void> {
  await database`select runledger.name_file(${apiKeyId}, ${id}, ${toDigest(sha256)})`
}

/**
 * Removes, in batches, blobs unused for more than so many days, unless an unfinished submission names them. Workers do it each
 * hour (job/retention.ts).
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
      select runledger.purge_blobs(${olderThan}::interval, ${purgedAtOnce}) as count`
    purged += count
    if (count === 0 || signal?.aborted === true) return purged
  }
}
