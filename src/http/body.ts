// Reads a body that may be hostile: refused by headers if possible, bounded on arrival, JSON decoded strictly.
import { isUtf8 } from 'node:buffer'
import type { Response } from 'polka'
import type * as v from 'valibot'
import { Problem } from '#error'
import type { Issue } from '#error'
import { shorten, validate } from '#options'
import { noRoom } from './problem.ts'
import { invalidRequest, readQuery } from './request.ts'
import type { ApiRequest } from './request.ts'
import { createShares } from './share.ts'

/** Ten times three fields of 64 KiB: room for JSON's escapes. */
export const bodyLimitBytes = 2 * 1024 * 1024

/** Of all that arrive at once: who sends slowly keeps others waiting no more than that. */
const arrivingBytes = 128 * 1024 * 1024
/** Of any account: two of the largest. */
const accountBytes = 4 * 1024 * 1024

/** Those of this process. */
const arriving = createShares(arrivingBytes, accountBytes)

/** JSON, or what is wrong with it. */
type Body =
  | { readonly json: unknown; readonly issues: readonly [] }
  | { readonly json: undefined; readonly issues: readonly Issue[] }

/**
 * The rest of a body that is too large, or has no room, is not read: its connection closes.
 * @param most bytes.
 * @throws {Problem} 415 for another media type or any content encoding; 429 or 503 for want of room.
 */
export async function readJson(
  request: ApiRequest,
  response: Response,
  most = bodyLimitBytes,
): Promise<Body> {
  requirePlain(request, 'application/json')
  const { caller } = request as Partial<ApiRequest>
  // Operators share one.
  const room = takeBodyRoom(caller?.accountId ?? '')
  try {
    const declared = Number(request.headers['content-length'] ?? 0)
    // One that is too large is not read at all.
    if (declared <= most) room.grow(declared)
    const body = createGrowing(declared)
    const isWhole = await receiveBytes(request, response, most, (chunk) => {
      // Sent in chunks, it declares nothing.
      room.grow(body.length + chunk.byteLength)
      body.add(chunk)
    })
    if (!isWhole) return invalid(`is larger than ${most} bytes`)
    return parse(body.bytes())
  } finally {
    room.leave()
  }
}

/**
 * JSON that a schema describes.
 * @param others mistakes beside the body's, which are listed with those of its form; the query's unless given.
 * @throws {Problem} 400 with all that is wrong; as readJson.
 */
export async function readBody<Value extends object>(
  request: ApiRequest,
  response: Response,
  schema: v.GenericSchema<unknown, Value>,
  others: readonly Issue[] = readQuery(request, []).issues,
): Promise<Value> {
  const { json, issues } = await readJson(request, response)
  if (others.length + issues.length > 0) throw invalidRequest([...others, ...issues])
  const { value, issues: found } = validate(schema, json)
  if (value === null) throw invalidRequest(shorten(found))
  return value
}

interface BodyRoom {
  /** @param bytes in all; fewer than it has are no change. @throws {Problem} */
  grow(bytes: number): void
  leave(): void
}

/** Nothing is taken yet. */
function takeBodyRoom(accountId: string): BodyRoom {
  let taken = 0
  return {
    grow(bytes) {
      const more = bytes - taken
      if (more <= 0) return
      const refusal = arriving.refuse(accountId, more)
      if (refusal === 'share') throw hasItsShare()
      if (refusal === 'full') throw noRoom('Too much arrives at this moment.')
      arriving.add(accountId, more)
      taken = bytes
    },
    leave: () => arriving.add(accountId, -taken),
  }
}

function hasItsShare(): Problem {
  return new Problem(
    'rate_limited',
    'Bodies of this account that arrive at this moment hold as much as they may. Try again shortly.',
    { headers: { 'Retry-After': '1' } },
  )
}

interface Growing {
  readonly length: number
  add(chunk: Buffer): void
  bytes(): Buffer
}

/** Pieces of a byte each would hold a hundred times as much as they say, so all but the first are put together. */
function createGrowing(expected: number): Growing {
  let buffer: Buffer = Buffer.alloc(0)
  let length = 0
  return {
    get length() {
      return length
    },
    add(chunk) {
      const needed = length + chunk.byteLength
      if (length === 0) buffer = chunk
      else {
        if (needed > buffer.byteLength) {
          // Of memory that nothing was written to, the system gives none.
          const larger = Buffer.allocUnsafeSlow(Math.max(expected, needed, 2 * length))
          buffer.copy(larger, 0, 0, length)
          buffer = larger
        }
        chunk.copy(buffer, length)
      }
      length = needed
    },
    bytes: () => buffer.subarray(0, length),
  }
}

/** @throws {Problem} 415 for another media type or any content encoding. */
export function requirePlain({ headers }: ApiRequest, expected: string): void {
  const mediaType = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType !== expected) {
    throw new Problem('unsupported_media_type', `Content-Type must be ${expected}.`)
  }
  if (headers['content-encoding'] !== undefined) {
    throw new Problem(
      'unsupported_media_type',
      'Content-Encoding is not supported: send the body as it is.',
    )
  }
}

/**
 * Takes a body as it arrives; no more than `most` bytes of it.
 * @returns false for a body that is too large, the rest of which is not read.
 * @throws {Problem} when the connection broke; what `take` throws, and then the rest is not read either.
 */
export async function receiveBytes(
  request: ApiRequest,
  response: Response,
  most: number,
  take: (chunk: Buffer) => void,
): Promise<boolean> {
  if (Number(request.headers['content-length'] ?? 0) > most) return false
  // Only now: a request refused by its headers is never asked for its body.
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
  const { promise, resolve, reject } = Promise.withResolvers<'whole' | 'too large' | 'broken'>()
  let length = 0
  const read = (chunk: Buffer): void => {
    length += chunk.byteLength
    try {
      if (length <= most) {
        take(chunk)
        return
      }
      resolve('too large')
    } catch (error) {
      reject(error)
    }
    request.off('data', read).pause()
  }
  // By its events: an iterator would cost as much as all else here.
  request.on('data', read)
  request.once('end', () => resolve('whole'))
  request.once('close', () => resolve('broken'))
  if (request.destroyed) resolve('broken')
  const end = await promise
  if (end !== 'broken') return end === 'whole'
  // Nobody reads this.
  throw new Problem('invalid_request', 'The body ended before it was complete.', { issues: [] })
}

function parse(bytes: Buffer): Body {
  if (!isUtf8(bytes)) return invalid('is not valid UTF-8')
  const text = bytes.toString()
  if (text.startsWith('\uFEFF')) return invalid('starts with a byte-order mark')
  try {
    return { json: JSON.parse(text) as unknown, issues: [] }
  } catch (error) {
    return invalid(`is not valid JSON${describe(error)}`)
  }
}

// V8's message quotes the input; only the position is passed on.
function describe(error: unknown): string {
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
  return position === undefined ? '' : ` (at character ${position})`
}

function invalid(what: string): Body {
  return { json: undefined, issues: [{ path: '', message: `the body ${what}` }] }
}
