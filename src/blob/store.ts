// Writes blobs: whole, or nothing of them.
import { cancelOnAbort, errorCode, sqlState } from '#database'
import type { Database, Queryable } from '#database'
import { toDigest } from './name.ts'

/** Beside one another few of them are held in memory, each as hexadecimal text too. */
const chunkBytes = 256 * 1024

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
