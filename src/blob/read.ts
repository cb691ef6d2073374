// Reads which blobs exist, and their bytes, by name or by an id that the uploader chose.
import type { Database } from '#database'
import { toDigest } from './store.ts'

interface NamedFile {
  readonly id: string
  readonly bytes: number
  /** Null when the requested files have more bytes in all than the caller allows. */
  readonly content: Uint8Array | null
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

/** Reads the n-th 256 KiB of a blob; null after its last chunk and for a missing blob. An empty blob has one empty chunk. */
export async function readBlobChunk(
  database: Database,
  accountId: string,
  name: string,
  number: number,
): Promise<Uint8Array | null> {
  const [row] = await database<{ content: Buffer }[]>`
    select content from runledger.blob_chunk
    where account_id = ${accountId} and sha256 = ${toDigest(name)} and number = ${number}`
  return row?.content ?? null
}

/** Reads the files that exist, and marks them as used. @param most bytes of all files together; above it no content is read. */
export function readFiles(
  database: Database,
  accountId: string,
  ids: readonly string[],
  most: number,
): Promise<readonly NamedFile[]> {
  return database<NamedFile[]>`
    select id, bytes, content from runledger.read_files(${accountId}, ${ids}::text[], ${most})`
}
