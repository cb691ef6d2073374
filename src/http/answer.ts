// Sending an answer, to a client that may be slow to read it or still sending what nobody will read.
import type { Response } from 'polka'

/** An answer that makes no progress for so long is given up: the client has stopped reading. */
const slowReaderMilliseconds = 15_000
/** So long an unread body goes on being received and dropped, so that the answer is read before the connection ends. */
const lingerMilliseconds = 1000
/** An unread body up to this size is simply dropped, and the connection kept. */
const droppedBodyBytes = 64 * 1024

/** Sends a JSON answer. */
export function sendJson(
  response: Response,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendText(response, status, 'application/json; charset=utf-8', JSON.stringify(body), headers)
}

/** Sends any text. */
export function sendText(
  response: Response,
  status: number,
  contentType: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(text)
  const lingers = isReceivingMuch(response)
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': bytes.byteLength,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(lingers && { Connection: 'close' }),
    ...headers,
  })
  response.setTimeout(slowReaderMilliseconds, () => response.destroy())
  if (!lingers) {
    response.end(bytes)
    return
  }
  // Closing at once would reset the connection, and a client that is still sending would never see the answer.
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

function isReceivingMuch({ req: request }: Response): boolean {
  if (request.complete) return false
  if (request.headers['transfer-encoding'] !== undefined) return true
  return Number(request.headers['content-length'] ?? 0) > droppedBodyBytes
}
