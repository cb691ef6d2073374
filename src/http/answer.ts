// Sends answers, also to clients that read slowly or are still sending a body that nobody reads. Bounds the memory of answers
// that clients have not taken yet: a record may be tens of megabytes. When all unsent answers together hold too much, the oldest
// answer of the key that holds most is cut off, and its client asks again.
import type { Response } from 'polka'
import type { ApiRequest } from './request.ts'

/** A client that takes nothing for this time counts as gone. */
const slowReaderMilliseconds = 15_000
/** How long an unread body is dropped before the connection is closed. */
const lingerMilliseconds = 1000
/** Up to this size an unread body is dropped and the connection kept. */
const droppedBodyBytes = 64 * 1024

/** Headers that forbid caching an answer and guessing another content type. */
export const usualHeaders = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

export function sendJson(
  response: Response,
  status: number,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendBody(response, status, 'application/json; charset=utf-8', JSON.stringify(body), headers)
}

export function sendBody(
  response: Response,
  status: number,
  contentType: string,
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const lingers = isReceivingMuch(response)
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': bytes.byteLength,
    ...usualHeaders,
    ...(lingers && { Connection: 'close' }),
    ...headers,
  })
  boundRest(response, bytes)
  if (!lingers) {
    response.end(bytes)
    return
  }
  // Closing at once would reset the connection before a client that still sends reads the answer.
  response.write(bytes)
  const { req: request } = response
  const end = (): void => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, lingerMilliseconds)
  request.once('end', end).once('error', end).resume()
  response.once('close', () => clearTimeout(timer))
}

/** Bounds the time for an answer's last bytes, and the memory that unsent answers hold. */
export function boundRest(
  response: Response,
  bytes: Buffer,
  milliseconds = slowReaderMilliseconds,
): void {
  response.setTimeout(milliseconds, () => response.destroy())
  const { caller } = response.req as Partial<ApiRequest>
  noteUnsent(response, caller?.apiKeyId ?? '', bytes)
}

function isReceivingMuch({ req: request }: Response): boolean {
  if (request.complete) return false
  if (request.headers['transfer-encoding'] !== undefined) return true
  return Number(request.headers['content-length'] ?? 0) > droppedBodyBytes
}

/** Smaller answers are bounded by the number of connections. */
const noticedBytes = 256 * 1024

/**
 * Counts the bytes. Call it before they are given to the response; several answers may share the same bytes.
 * @returns a function to call when the bytes are taken, unless the response ends with them.
 */
type NoteUnsent = (response: Response, key: string, bytes: Buffer) => () => void

/** @param bytesMost the limit of all answers together; bytes that several answers share count once. */
export function createUnsentAnswers(bytesMost = 256 * 1024 * 1024): NoteUnsent {
  const all = new Set<{
    readonly key: string
    readonly response: Response
    readonly bytes: Buffer
  }>()

  function measure(): { readonly total: number; readonly largestKey: string } {
    const bytes = new Set<Buffer>()
    const byKey = new Map<string, number>()
    for (const one of all) {
      bytes.add(one.bytes)
      byKey.set(one.key, (byKey.get(one.key) ?? 0) + one.bytes.length)
    }
    const [largestKey = ''] = [...byKey].toSorted(([, a], [, b]) => b - a)[0] ?? []
    return { total: bytes.values().reduce((sum, { length }) => sum + length, 0), largestKey }
  }

  return (response, key, bytes) => {
    // A response that is closed emits no further event, and holds no bytes.
    if (bytes.length < noticedBytes || response.destroyed) return () => {}
    const one = { key, response, bytes }
    all.add(one)
    const taken = (): void => {
      all.delete(one)
      response.off('close', taken)
    }
    response.once('close', taken)
    for (;;) {
      const { total, largestKey } = measure()
      const oldest = all.values().find((unsent) => unsent.key === largestKey)
      if (total <= bytesMost || oldest === undefined) return taken
      all.delete(oldest)
      oldest.response.destroy()
    }
  }
}

/** Counts the unsent answers of this process. */
export const noteUnsent = createUnsentAnswers()
