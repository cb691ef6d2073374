// The blobs that a submission names, as its runs need them: read one by one, so that a worker holds those of one run alone.
import { readBlobChunk } from '#blob'
import type { Database } from '#database'
import { SandboxError } from '#executor'
import type { BlobCache } from '#executor'
import type { Logger } from '#log'
import type { Options } from '#options'
import { untilAvailable } from '#retry'

/** What is fetched when it is not cached: the bytes of an account's blob, chunk by chunk. A database that is away is waited for. */
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

/** The bytes of a test, or of a submission without tests, wherever they are kept. */
export interface NamedBlobs {
  readInput(given: GivenInput): Promise<Uint8Array>
  /** Null: any output will do. */
  readExpected(given: GivenExpectation): Promise<Uint8Array | null>
  /** How many were read so far, and how many of them had to be fetched; null: none was. */
  readonly count: { readonly read: number; readonly fetched: number } | null
}

type GivenInput = Pick<Options, 'stdin_sha256'> & { readonly stdin: Uint8Array }
type GivenExpectation = Pick<Options, 'expected_stdout_sha256'> & {
  /** Null: any output will do. */
  readonly expectedStdout: Uint8Array | null
}

/** Both of a submission that has no tests. */
export async function readGiven(
  blobs: NamedBlobs,
  given: GivenInput & GivenExpectation,
): Promise<{ readonly stdin: Uint8Array; readonly expectedStdout: Uint8Array | null }> {
  const expectedStdout = await blobs.readExpected(given)
  return { stdin: await blobs.readInput(given), expectedStdout }
}

/** @param signal ends the wait for them: what is read for others, too, goes on. */
export function openBlobs(
  cache: BlobCache | undefined,
  accountId: string,
  signal: AbortSignal,
): NamedBlobs {
  let read = 0
  let fetched = 0

  async function find(name: string): Promise<Uint8Array> {
    if (cache === undefined) throw new SandboxError('blob.read', 'blobs are not read here')
    const { bytes, cached } = await cache.read(accountId, name, signal)
    read += 1
    if (!cached) fetched += 1
    return bytes
  }

  return {
    async readInput({ stdin, stdin_sha256: blob }) {
      return blob === undefined ? stdin : find(blob)
    },
    async readExpected({ expectedStdout, expected_stdout_sha256: blob }) {
      return blob === undefined ? expectedStdout : find(blob)
    },
    get count() {
      return read === 0 ? null : { read, fetched }
    },
  }
}
