// Reads the blobs that a submission names one by one, as its runs need them, so that a worker holds those of one run only.
import { readBlobChunk } from '#blob'
import { untilAvailable } from '#database'
import type { Database } from '#database'
import type { BlobCache } from '#executor'
import type { Logger } from '#log'

/** Fetches a blob of an account, chunk by chunk, when it is not cached. Waits for an unavailable database. */
export async function* fetchBlob(
  database: Database,
  log: Logger,
  accountId: string,
  name: string,
): AsyncGenerator<Uint8Array> {
  for (let number = 0; ; number += 1) {
    const chunk = await untilAvailable(() => readBlobChunk(database, accountId, name, number), log)
    if (chunk === null) return
    yield chunk
  }
}

export interface NamedBlobs {
  /** Returns what the request gives, unless it names a blob in place of that. */
  read<Given>(given: Given, blob: string | undefined): Promise<Given | Uint8Array>
  /** How many blobs were read so far, and how many of them had to be fetched; null when none was read. */
  readonly count: { readonly read: number; readonly fetched: number } | null
}

/**
 * Opens the blobs of one attempt.
 * @param signal ends the wait for a blob; the read itself goes on, because others may share it.
 */
export function openBlobs(cache: BlobCache, accountId: string, signal: AbortSignal): NamedBlobs {
  let read = 0
  let fetched = 0

  return {
    async read(given, blob) {
      if (blob === undefined) return given
      const { bytes, cached } = await cache.read(accountId, blob, signal)
      read += 1
      if (!cached) fetched += 1
      return bytes
    },
    get count() {
      return read === 0 ? null : { read, fetched }
    },
  }
}
