// Keeps blobs on disk: what tests are run on is fetched once, and read from there by every later run of the same account;
// how soon another's is there would show what others have. Bytes are held against their SHA-256 when they are fetched, and
// once more after each start.
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { untilAborted } from '#abort'
import { SandboxError } from '#contract'
import { nameFile, openOwnedStore } from './owned-store.ts'

/** A blob's bytes, not to be changed: others may read them, too. */
export interface CachedBlob {
  readonly bytes: Uint8Array
  /** False: it was fetched just now. */
  readonly cached: boolean
}

export interface BlobCache {
  /**
   * @param name its SHA-256 in hexadecimal.
   * @param signal ends the wait: rejects with its reason.
   * @throws {SandboxError} step `blob.read` when there is none, or its bytes are not those of its name; what `fetch` throws.
   */
  read(owner: string, name: string, signal?: AbortSignal): Promise<CachedBlob>
  /** Removes those that were not used for so long. */
  forgetUnused(milliseconds: number): void
}

export interface BlobCacheOptions {
  /** Made with mode 0700; other workers may share it. */
  readonly directory: string
  /** 0 keeps nothing. A blob larger than a quarter of it is not kept. */
  readonly capacityBytes: number
  /** Its bytes in order; nothing at all when there is no such blob. */
  readonly fetch: (owner: string, name: string) => AsyncIterable<Uint8Array>
}

/** Bytes that are hashed at once: nothing else is done meanwhile. */
const hashedAtOnce = 1024 * 1024

export function createBlobCache({ directory, capacityBytes, fetch }: BlobCacheOptions): BlobCache {
  const inFlight = new Map<string, Promise<CachedBlob>>()
  const store = openOwnedStore(directory, capacityBytes)

  async function load(owner: string, name: string): Promise<CachedBlob> {
    const file = nameFile(owner, name)
    const found = await store.read(file, async (bytes) => (await digest(bytes)) === name)
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
    throw new SandboxError('blob.read', `the blob ${name} has other bytes than its name says`)
  return Buffer.concat(parts)
}

async function digest(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes.length; at += hashedAtOnce) {
    hash.update(bytes.subarray(at, at + hashedAtOnce))
    await nextTurn()
  }
  return hash.digest('hex')
}
