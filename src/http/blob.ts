// PUT and HEAD /api/blobs/{sha256}. An upload is held in memory until it is complete and its SHA-256 matches the path, so that
// a broken or false upload never reaches the database.
import { createHash } from 'node:crypto'
import type { Response } from 'polka'
import { blobBytesMost, findBlobs, isBlobName, storeBlob } from '#blob'
import type { Stored } from '#blob'
import { Problem } from '#error'
import { sendJson, usualHeaders } from './answer.ts'
import { receiveBytes, requirePlain } from './body.ts'
import type { HttpContext } from './http.ts'
import { retryAfter, withDeadline } from './problem.ts'
import { invalidRequest, readQuery, refuseQuery } from './request.ts'
import type { ApiRequest, Handler } from './request.ts'
import { createShares } from './share.ts'

/** Bytes of all uploads that arrive at once; bounds what slow senders can hold. One account may have half of it. */
const roomBytes = 64 * 1024 * 1024
/** What an upload counts at least, because even a small one has a connection and its buffers. */
const leastBytes = 1024 * 1024
/** Enough for 16 MiB at 2.3 Mbit/s. */
const arrivalSeconds = 60
/** The largest blob takes an idle database a tenth of a second; the wait for earlier uploads counts too. */
const storingMilliseconds = 15_000

/** Answers `PUT`: 201, or 200 when the account already had the blob. */
export function putBlob({ database, uploadSeconds = arrivalSeconds }: HttpContext): Handler {
  const room = createShares(roomBytes, roomBytes / 2)
  // Blobs are stored one after another, so that the other database connections are free for submissions.
  let last: Promise<unknown> = Promise.resolve()

  return async (request, response) => {
    const { name, declared } = readHead(request)
    const { accountId, apiKeyId } = request.caller
    const needed = Math.max(leastBytes, declared)
    if (room.refuse(accountId, needed) !== null)
      throw retryAfter('unavailable', 'Too many uploads are in progress. Try again shortly.', 2)
    room.add(accountId, needed)

    const receiving = receive(request, response, declared, name)
    let storing: Promise<Stored> | undefined
    const upload = (async () => {
      request.boundsArrival = true
      const bytes = await withDeadline(() => receiving, uploadSeconds * 1000, tooSlow)
      const stored = await withDeadline((signal) => {
        storing = last.then(() => storeBlob(database, apiKeyId, name, bytes, signal))
        last = storing.catch(() => {})
        return storing
      }, storingMilliseconds)
      return { stored, size: bytes.length }
    })()
    // The room stays taken until the bytes are no longer needed, even if the caller was answered earlier.
    void Promise.allSettled([receiving, upload]).then(() =>
      Promise.allSettled([storing]).then(() => room.add(accountId, -needed)),
    )
    const { stored, size } = await upload
    if (stored === 'quota_exceeded') {
      throw new Problem(
        'quota_exceeded',
        'With this blob the account would exceed the blob quota of this key’s tier. Unused blobs are removed after the retention period.',
      )
    }
    sendJson(response, stored === 'new' ? 201 : 200, { sha256: name, size })
  }
}

/** Answers `HEAD`: 200 with the size as Content-Length, or 404. */
export function headBlob({ database }: HttpContext): Handler {
  return async (request, response) => {
    refuseQuery(request)
    const name = request.params['sha256'] ?? ''
    const { accountId } = request.caller
    const found = isBlobName(name)
      ? await withDeadline(() => findBlobs(database, accountId, [name]))
      : new Map<string, number>()
    const size = found.get(name)
    if (size === undefined) throw new Problem('not_found', 'This account has no such blob.')
    response.writeHead(200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': size,
      ...usualHeaders,
    })
    response.end()
  }
}

/** Checks query, path and headers. @throws {Problem} */
function readHead(request: ApiRequest): { readonly name: string; readonly declared: number } {
  const { issues } = readQuery(request, [])
  const name = request.params['sha256'] ?? ''
  const message = 'must be a SHA-256 in hexadecimal, in lower case'
  const all = isBlobName(name) ? issues : [...issues, { path: 'sha256', message }]
  if (all.length > 0) throw invalidRequest(all)
  requirePlain(request, 'application/octet-stream')
  const declared = Number(request.headers['content-length'] ?? blobBytesMost)
  if (declared > blobBytesMost) throw tooLarge()
  return { name, declared }
}

/** Receives the bytes and checks their SHA-256. @param most bytes: the length that the caller declared, if it did. */
async function receive(
  request: ApiRequest,
  response: Response,
  most: number,
  name: string,
): Promise<Buffer> {
  // The system provides memory only for pages that are written, so the unused rest costs nothing.
  const bytes = Buffer.allocUnsafeSlow(most)
  const hash = createHash('sha256')
  let length = 0
  const isWhole = await receiveBytes(request, response, most, (chunk) => {
    hash.update(chunk)
    length += chunk.copy(bytes, length)
  })
  if (!isWhole) throw tooLarge()
  if (hash.digest('hex') !== name) {
    throw invalidRequest([{ path: '', message: 'the body’s SHA-256 is not the one in the path' }])
  }
  return bytes.subarray(0, length)
}

function tooSlow(): Problem {
  const headers = { Connection: 'close' }
  return new Problem('request_timeout', 'The request did not arrive in time.', { headers })
}

function tooLarge(): Problem {
  return invalidRequest([{ path: '', message: `the body is larger than ${blobBytesMost} bytes` }])
}
