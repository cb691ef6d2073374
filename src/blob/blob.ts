// Blobs: long inputs and expected outputs that an account uploads once and names by their SHA-256 in submissions.
//
// A blob belongs to one account. The same bytes of another account are another blob, so that no account learns what others
// have. Its bytes are stored in chunks of 256 KiB (runledger.blob_chunk), so that neither a write nor a read holds the
// blob twice. A blob is written in one transaction and never changed. It is purged when it was unused for as long as
// bodies are kept and no unfinished submission names it (sql/functions/blob.sql). A submission's first event lists the
// blobs that it names, with their sizes.
import { cancelOnAbort, errorCode, sqlState, untilAvailable } from '#database'
import type { Database, Queryable } from '#database'
import type { Logger } from '#log'

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
  const digest = Buffer.from(name, 'hex')
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

/** Returns those of an account's blobs that have one of these names, with their sizes in bytes. */
export async function findBlobs(
  database: Database,
  accountId: string,
  names: Iterable<string>,
): Promise<Map<string, number>> {
  const rows = await database<{ name: string; bytes: number }[]>`
    select encode(sha256, 'hex') as name, bytes from runledger.blob
    where account_id = ${accountId} and sha256 = any (array(select decode(name, 'hex') from unnest(${[...names]}::text[]) name))`
  return new Map(rows.map(({ name, bytes }) => [name, bytes]))
}

/** Yields a blob chunk by chunk; nothing for a missing one. Waits for an unavailable database. */
export async function* fetchBlob(
  database: Database,
  log: Logger,
  accountId: string,
  name: string,
): AsyncGenerator<Uint8Array> {
  const sha256 = Buffer.from(name, 'hex')
  for (let number = 0; ; number += 1) {
    const [row] = await untilAvailable(
      () => database<{ content: Buffer }[]>`
        select content from runledger.blob_chunk
        where account_id = ${accountId} and sha256 = ${sha256} and number = ${number}`,
      log,
    )
    if (row === undefined) return
    yield row.content
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
  await database`select runledger.name_file(${apiKeyId}, ${id}, ${Buffer.from(sha256, 'hex')})`
}

interface NamedFile {
  /** The id that the uploader chose. */
  readonly id: string
  /** Null when the requested files have more bytes in all than the caller allows. */
  readonly content: Uint8Array | null
}

/** Reads the files that exist, and marks them as used. @param most bytes of all files together; above it no content is read. */
export function readFiles(
  database: Database,
  accountId: string,
  ids: readonly string[],
  most: number,
): Promise<readonly NamedFile[]> {
  return database<NamedFile[]>`
    select id, content from runledger.read_files(${accountId}, ${ids}::text[], ${most})`
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
