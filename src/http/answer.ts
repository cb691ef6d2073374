// Sends answers, also to clients that read slowly or are still sending a body that nobody reads.
import type { Response } from 'polka'
import type { ApiRequest } from './request.ts'
import { noteUnsent } from './unsent.ts'

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

/** Bounds the time for an answer's last bytes, and the memory that unsent answers hold (unsent.ts). */
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
