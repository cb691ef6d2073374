// Keeps blobs, the data of tests, on disk: a blob is fetched once, and later runs of the same account read it from there.
// Accounts share no entries, because a fast answer would show which blobs others have. Bytes are compared with their SHA-256
// when they are fetched.
import { createHash } from 'node:crypto'
import { untilAborted } from '#abort'
import { SandboxError } from '#contract'
import { nameFile, openOwnedStore } from './owned-store.ts'

/** A blob. Its bytes must not be changed, because other callers may read them, too. */
export interface CachedBlob {
  readonly bytes: Uint8Array
  /** False when the blob was fetched for this call. */
  readonly cached: boolean
}

export interface BlobCache {
  /**
   * Reads a blob from disk, or fetches it.
   * @param name the blob's SHA-256 in hexadecimal.
   * @param signal ends the wait: rejects with its reason.
   * @throws {SandboxError} step `blob.read` when it does not exist, or its bytes do not match its name; what `fetch` throws.
   */
  read(owner: string, name: string, signal?: AbortSignal): Promise<CachedBlob>
  /** Removes the blobs that were not used for this long. */
  forgetUnused(milliseconds: number): void
}

export interface BlobCacheOptions {
  /** Created with mode 0700; other workers may share it. */
  readonly directory: string
  /** 0 keeps nothing. A blob larger than a quarter of the capacity is not kept. */
  readonly capacityBytes: number
  /** Yields a blob's bytes in order; yields nothing when there is no such blob. */
  readonly fetch: (owner: string, name: string) => AsyncIterable<Uint8Array>
}

export function createBlobCache({ directory, capacityBytes, fetch }: BlobCacheOptions): BlobCache {
  const inFlight = new Map<string, Promise<CachedBlob>>()
  const store = openOwnedStore(directory, capacityBytes)

  async function load(owner: string, name: string): Promise<CachedBlob> {
    const file = nameFile(owner, name)
    const found = await store.read(file)
    if (found !== null) return { bytes: found, cached: true }
    const bytes = await collect(fetch(owner, name), name)
    await store.keep(file, bytes)
    return { bytes, cached: false }
  }

  return {
    read(owner, name, signal) {
      const file = nameFile(owner, name)
      const loading = inFlight.get(file) ?? load(owner, name).finally(() => inFlight.delete(file))
      inFlight.set(file, loading)
      return untilAborted(loading, signal)
    },
    forgetUnused: store.forgetUnused,
  }
}

async function collect(chunks: AsyncIterable<Uint8Array>, name: string): Promise<Uint8Array> {
  const hash = createHash('sha256')
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) {
    hash.update(chunk)
    parts.push(chunk)
  }
  if (parts.length === 0) throw new SandboxError('blob.read', `the blob ${name} is gone`)
  if (hash.digest('hex') !== name)
    throw new SandboxError('blob.read', `the bytes of the blob ${name} do not match its name`)
  return Buffer.concat(parts)
}
