// Blobs by ids that their uploader has chosen, for doors whose clients choose them.
import type { Database } from '#database'

interface NamedFile {
  readonly id: string
  readonly bytes: number
  /** Null when the files that were asked for are larger in all than was asked for. */
  readonly content: Uint8Array | null
}

/** Calls a blob of the key's account by an id, also if another had it. It goes with its blob, or when the blob has 64 younger ones. */
export async function nameFile(
  database: Database,
  apiKeyId: string,
  id: string,
  sha256: string,
): Promise<void> {
  await database`select runledger.name_file(${apiKeyId}, ${id}, ${Buffer.from(sha256, 'hex')})`
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
