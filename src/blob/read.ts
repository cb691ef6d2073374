// Reads blobs: which are there, and their bytes, by their names or by ids that their uploader has chosen.
import type { Database } from '#database'
import { toDigest } from './store.ts'

interface NamedFile {
  readonly id: string
  readonly bytes: number
  /** Null when the files that were asked for are larger in all than was asked for. */
  readonly content: Uint8Array | null
}

/** Those of an account's blobs that have one of these names, with their sizes in bytes. */
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

/** The n-th 256 KiB of a blob; null behind its last, and for one that is not there. One that is empty has one empty chunk. */
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

/** Those that are there; that they are asked for is a use. @param most bytes of all: of more, nothing is read. */
export function readFiles(
  database: Database,
  accountId: string,
  ids: readonly string[],
  most: number,
): Promise<readonly NamedFile[]> {
  return database<NamedFile[]>`
    select id, bytes, content from runledger.read_files(${accountId}, ${ids}::text[], ${most})`
}
