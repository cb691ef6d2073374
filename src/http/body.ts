// Reads bodies that may be hostile: refuses them by their headers if possible, bounds them on arrival, decodes JSON strictly.
import { isUtf8 } from 'node:buffer'
import type { Response } from 'polka'
import type * as v from 'valibot'
import { Problem } from '#error'
import type { Issue } from '#error'
import { validate } from '#options'
import { retryAfter } from './problem.ts'
import { invalidRequest, readQuery } from './request.ts'
import type { ApiRequest } from './request.ts'
import { createShares } from './share.ts'

/** Ten times the three fields of 64 KiB, which leaves room for JSON's escapes. */
export const bodyLimitBytes = 2 * 1024 * 1024

/** Bytes of all bodies that arrive at once; bounds the memory that slow senders can hold. */
const arrivingBytes = 128 * 1024 * 1024
/** Bytes that every account may always have in arriving bodies: two of `bodyLimitBytes`. */
const accountBytes = 4 * 1024 * 1024

const arriving = createShares(arrivingBytes, accountBytes)

/** The parsed JSON, or what is wrong with the body. */
interface Body {
  readonly json: unknown
  readonly issues: readonly Issue[]
}

/**
 * Reads and parses a JSON body. When the body is too large or finds no room, the rest is not read and the connection closes.
 * @param most bytes of the body.
 * @throws {Problem} 415 for another media type or any content encoding; 429 or 503 for a lack of room.
 */
export async function readJson(
  request: ApiRequest,
  response: Response,
  most = bodyLimitBytes,
): Promise<Body> {
  requirePlain(request, 'application/json')
  const tooLarge = invalid(`is larger than ${most} bytes`)
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > most) return tooLarge
  // An operator has no account id, so the bodies of all operators count as one account's.
  const accountId = (request as Partial<ApiRequest>).caller?.accountId ?? ''
  let taken = 0
  try {
    taken = takeRoom(accountId, taken, declared)
    // Chunks are copied into one buffer, because a chunk of a single byte holds about a hundred times its length in memory. The
    // system provides memory only for pages that are written, so the unused rest costs nothing.
    let buffer = Buffer.allocUnsafe(declared)
    let length = 0
    const isWhole = await receiveBytes(request, response, most, (chunk) => {
      const needed = length + chunk.byteLength
      // A chunked body declares no size, so it takes room as it arrives.
      taken = takeRoom(accountId, taken, needed)
      if (needed > buffer.byteLength) {
        const larger = Buffer.allocUnsafe(Math.max(needed, 2 * length))
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
      chunk.copy(buffer, length)
      length = needed
    })
    return isWhole ? parse(buffer.subarray(0, length)) : tooLarge
  } finally {
    arriving.add(accountId, -taken)
  }
}

/**
 * Reads a JSON body that matches a schema.
 * @param others issues outside the body, reported together with a body that is not JSON; by default those of the query.
 * @throws {Problem} 400 with every issue; the problems of readJson.
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
  if (value === null) throw invalidRequest(found)
  return value
}

/** Takes room for a body of which `needed` bytes have arrived. @returns the bytes that it has now. @throws {Problem} */
function takeRoom(accountId: string, taken: number, needed: number): number {
  const more = needed - taken
  if (more <= 0) return taken
  const refusal = arriving.refuse(accountId, more)
  if (refusal === 'share')
    throw retryAfter(
      'rate_limited',
      'The request bodies of this account that arrive at this moment have reached their limit. Try again shortly.',
    )
  if (refusal === 'full')
    throw retryAfter(
      'unavailable',
      'Too many bytes of request bodies arrive at this moment. Try again shortly.',
    )
  arriving.add(accountId, more)
  return needed
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
 * Passes a body to `take` as it arrives, at most `most` bytes of it.
 * @returns false for a body that is too large; its rest is not read.
 * @throws {Problem} when the connection broke. What `take` throws is thrown on, and the rest is not read either.
 */
export async function receiveBytes(
  request: ApiRequest,
  response: Response,
  most: number,
  take: (chunk: Buffer) => void,
): Promise<boolean> {
  // Sent only now, so that a request refused by its headers is never asked for its body.
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
  // Reads by events, because an async iterator would cost as much as the rest of this function.
  request.on('data', read)
  request.once('end', () => resolve('whole'))
  const lose = (): void => resolve('broken')
  request.once('close', lose)
  if (request.destroyed) lose()
  const end = await promise
  // The request lives as long as its answer takes, and would keep the body through its listeners.
  request.off('data', read).off('close', lose)
  if (end !== 'broken') return end === 'whole'
  // The connection is closed, so no client reads this answer.
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

// V8's message quotes the input, so only the position is passed on.
function describe(error: unknown): string {
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
  return position === undefined ? '' : ` (at character ${position})`
}

function invalid(what: string): Body {
  return { json: undefined, issues: [{ path: '', message: `the body ${what}` }] }
}
