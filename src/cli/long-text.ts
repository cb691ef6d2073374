// Uploads texts that are too long for a request as blobs; the request then names the blobs.
import { nameBlob } from '#client'
import type { Client, SubmissionRequest } from '#client'

/** The most bytes of a submission's own stdin or expected_stdout. */
const textBytesMost = 65_536
/** The most bytes of the texts of all tests. */
const testsBytesMost = 1024 * 1024

/** The most bytes of a request as JSON, a little less than the service takes. */
const requestBytesMost = 1.9 * 1024 * 1024

/** The fields of a submission, or of a test, that hold a text or name a blob. */
type Texts = Pick<SubmissionRequest, 'stdin' | 'expected_stdout' | 'stdin_sha256' | 'expected_stdout_sha256'> // prettier-ignore

const fields = ['stdin', 'expected_stdout'] as const

/** Returns the request with blobs for its long texts. Of the tests, the longest texts become blobs until the others fit. */
export async function uploadLongTexts(
  client: Pick<Client, 'hasBlob' | 'putBlob'>,
  request: SubmissionRequest,
): Promise<SubmissionRequest> {
  const { tests } = request
  const own = fields.filter((field) => lengthOf(request[field]) > textBytesMost)
  const moved = await moveTexts(client, request, own)
  if (tests === undefined) return moved
  const room = requestBytesMost - Buffer.byteLength(JSON.stringify({ ...moved, tests: [] }))
  return { ...moved, tests: await moveTests(client, tests, room) }
}

async function moveTests<Test extends Texts>(
  client: Pick<Client, 'hasBlob' | 'putBlob'>,
  tests: readonly Test[],
  /** The most bytes of all tests as JSON. */
  room: number,
): Promise<Test[]> {
  const texts = tests.flatMap((test) =>
    fields.map((field) => ({
      test,
      field,
      bytes: lengthOf(test[field]),
      // In JSON, a quote or a line end takes two bytes.
      spelled: lengthOf(JSON.stringify(test[field])),
    })),
  )
  let left = texts.reduce((sum, { bytes }) => sum + bytes, 0)
  let spelledLeft = lengthOf(JSON.stringify(tests))
  const long = new Map<Test, (typeof fields)[number][]>()
  for (const { test, field, bytes, spelled } of texts.toSorted((a, b) => b.bytes - a.bytes)) {
    if (left <= testsBytesMost && spelledLeft <= room) break
    left -= bytes
    // About 100 bytes remain for the blob's name.
    spelledLeft -= spelled - 100
    long.set(test, [...(long.get(test) ?? []), field])
  }
  return Array.fromAsync(tests, (test) => moveTexts(client, test, long.get(test) ?? []))
}

async function moveTexts<T extends Texts>(
  client: Pick<Client, 'hasBlob' | 'putBlob'>,
  texts: T,
  long: readonly (typeof fields)[number][],
): Promise<T> {
  const moved = { ...texts }
  for (const field of long) {
    const bytes = new TextEncoder().encode(texts[field])
    const name = await nameBlob(bytes)
    if (!(await client.hasBlob(name))) await client.putBlob(bytes)
    Object.assign(moved, { [`${field}_sha256`]: name })
    delete moved[field]
  }
  return moved
}

/** Returns the bytes of a text; none of anything else, which the service refuses by its path. */
function lengthOf(text: unknown): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : 0
}
