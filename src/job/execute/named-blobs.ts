// Reads the blobs that a submission names one by one, as its runs need them, so that a worker holds those of one run only.
import { readBlobChunk } from '#blob'
import type { Database } from '#database'
import { SandboxError } from '#executor'
import type { BlobCache } from '#executor'
import type { Logger } from '#log'
import type { Options } from '#options'
import { untilAvailable } from '#retry'

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

/** Reads the input and expected output of a test, or of a submission without tests, from the request or from a blob. */
export interface NamedBlobs {
  readInput(given: GivenInput): Promise<Uint8Array>
  /** Null when any output is accepted. */
  readExpected(given: GivenExpectation): Promise<Uint8Array | null>
  /** How many blobs were read so far, and how many of them had to be fetched; null when none was read. */
  readonly count: { readonly read: number; readonly fetched: number } | null
}

type GivenInput = Pick<Options, 'stdin_sha256'> & { readonly stdin: Uint8Array }
type GivenExpectation = Pick<Options, 'expected_stdout_sha256'> & {
  /** Null when any output is accepted. */
  readonly expectedStdout: Uint8Array | null
}

/** Reads the input and expected output of a submission without tests. */
export async function readGiven(
  blobs: NamedBlobs,
  given: GivenInput & GivenExpectation,
): Promise<{ readonly stdin: Uint8Array; readonly expectedStdout: Uint8Array | null }> {
  const expectedStdout = await blobs.readExpected(given)
  return { stdin: await blobs.readInput(given), expectedStdout }
}

/**
 * Opens the blobs of one attempt.
 * @param signal ends the wait for a blob; the read itself goes on, because others may share it.
 */
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
