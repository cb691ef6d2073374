// Sends one delivery once and says what came of it. Whatever the receiver does is a value; only the caller's own abort and
// bugs are thrown. Retrying, recording and counting attempts are the caller's.
import type { TLSSocket } from 'node:tls'

import { Client, errors, type buildConnector, type Dispatcher } from 'undici'

import { codeOf, ConnectionError, openConnection } from './connect.ts'
import { createDeadline, DeadlineError, untilAborted } from './deadline.ts'
import { parseRetryAfter } from './retry.ts'
import type { DeliverySettings } from './settings.ts'
import { signDelivery } from './signature.ts'

/** One delivery to make. */
export interface Delivery {
  /** The same on every attempt. Printable ASCII without a full stop. */
  readonly id: string
  /** As the client gave it; checked again here, for every attempt. */
  readonly url: string
  /** JSON in UTF-8; these very bytes are signed and sent. */
  readonly body: Uint8Array
  /** See `signDelivery`. */
  readonly secret: string
}

/**
 * What came of an attempt:
 * `delivered` a 2xx answer; `gone` a 410: the receiver wants no more;
 * `refused` any other answer, redirects among them, which are never followed;
 * `unreachable` no whole answer head: DNS, connection, TLS, time, or not HTTP;
 * `forbidden` we would not send: scheme, credentials, port, or an address that is not public.
 */
export type DeliveryKind = 'delivered' | 'gone' | 'refused' | 'unreachable' | 'forbidden'

/** The record of one attempt; all of it may be shown to the client whose webhook it is. */
export interface DeliveryOutcome {
  readonly kind: DeliveryKind
  /** The answer's HTTP status; null without an answer. */
  readonly status: number | null
  /** From the call to the end of the attempt, by the monotonic clock. */
  readonly durationSeconds: number
  /** The start of the answer's body as text, at most `snippetBytes` of it, U+FFFD for NUL and invalid UTF-8; null without an answer. */
  readonly snippet: string | null
  /** The answer's `Retry-After`, clamped (see `parseRetryAfter`); null when absent or delivered. */
  readonly retryAfterSeconds: number | null
  /** For a person: `step: reason`, such as `tls: CERT_HAS_EXPIRED`; without addresses; null when there was an answer. */
  readonly error: string | null
}

/** The answer as far as it was read. */
interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly snippet: Uint8Array
}

/**
 * Signs the delivery with the present time and POSTs it over a connection of its own, which is dropped afterwards.
 * Once the answer's head has come its status decides, even if the body then breaks off or the time is up.
 * @param signal ends the attempt; unless the answer's head was there already, the promise rejects with the signal's reason.
 */
export async function sendDelivery(
  delivery: Delivery,
  settings: DeliverySettings,
  signal?: AbortSignal,
): Promise<DeliveryOutcome> {
  signal?.throwIfAborted()
  const startedAt = performance.now()
  const deadline = createDeadline('request', settings.totalSeconds, signal)
  try {
    const url = parseTarget(delivery.url, settings)
    const socket = await openConnection(url, settings, deadline.signal)
    return answered(await exchange(socket, url, delivery, settings, deadline.signal), startedAt)
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason
    return unanswered(error, startedAt)
  } finally {
    deadline.clear()
  }
}

/** The URL again, or a refusal: the validator may have been another version, or other settings. */
function parseTarget(text: string, settings: DeliverySettings): URL {
  const url = URL.parse(text)
  if (url === null) throw new ConnectionError('forbidden', 'url: not a URL')
  if (url.protocol !== 'https:') throw new ConnectionError('forbidden', 'url: not https')
  if (url.username !== '' || url.password !== '') {
    throw new ConnectionError('forbidden', 'url: holds credentials')
  }
  const port = url.port === '' ? 443 : Number(url.port)
  if (!settings.allowedPorts.includes(port)) {
    throw new ConnectionError('forbidden', `url: port ${port} is not allowed`)
  }
  return url
}

async function exchange(
  socket: TLSSocket,
  url: URL,
  delivery: Delivery,
  settings: DeliverySettings,
  signal: AbortSignal,
): Promise<Answer> {
  let unused = true
  const handOver: buildConnector.connector = (_, callback) => {
    if (unused && !socket.destroyed) callback(null, socket)
    else callback(Object.assign(new Error('connection lost'), { code: 'ECONNRESET' }), null)
    unused = false
  }
  const client = new Client(url.origin, {
    // Gives the socket once: undici connects again by itself when a connection is lost early, and here it must not.
    // Not at once: called back while it is still connecting, undici 8.12 never sends the request.
    connect: (options, callback) => queueMicrotask(() => handOver(options, callback)),
    allowH2: false,
    maxHeaderSize: 16_384,
    // The caller's deadline covers both, and to the millisecond.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  try {
    const request = client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: {
        'content-type': 'application/json',
        'user-agent': `Runledger-Webhooks/${settings.version}`,
        ...signDelivery({ ...delivery, timestamp: Math.floor(Date.now() / 1000) }),
      },
      body: delivery.body,
      signal,
      reset: true, // "connection: close"
    })
    // undici's own signal is not heard before the request has begun to be written.
    const response = await untilAborted(request, signal)
    const header = response.headers['retry-after']
    return {
      status: response.statusCode,
      retryAfter: typeof header === 'string' ? header : header?.[0],
      snippet: await readSnippet(response.body, settings.snippetBytes),
    }
  } finally {
    // Drops what was not read. Not awaited: nothing that a receiver does may hold us here.
    client.destroy().catch(() => {})
    socket.destroy()
  }
}

/** Reads until there is enough. A body that breaks off is as good as a short one: the status has been said. */
async function readSnippet(
  body: Dispatcher.ResponseData['body'],
  limit: number,
): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= limit) break
    }
  } catch {
    // Kept: what came before.
  }
  return Buffer.concat(chunks).subarray(0, limit)
}

function answered({ status, retryAfter, snippet }: Answer, startedAt: number): DeliveryOutcome {
  const delivered = status >= 200 && status < 300
  return {
    kind: delivered ? 'delivered' : status === 410 ? 'gone' : 'refused',
    status,
    durationSeconds: secondsSince(startedAt),
    // NUL is valid UTF-8, but PostgreSQL stores it in no text.
    snippet: new TextDecoder().decode(snippet).replaceAll('\0', '\uFFFD'),
    retryAfterSeconds: delivered ? null : parseRetryAfter(retryAfter),
    error: null,
  }
}

function unanswered(error: unknown, startedAt: number): DeliveryOutcome {
  const durationSeconds = secondsSince(startedAt)
  const none = { status: null, durationSeconds, snippet: null, retryAfterSeconds: null }
  if (error instanceof ConnectionError) return { ...none, kind: error.kind, error: error.message }
  if (error instanceof DeadlineError) return { ...none, kind: 'unreachable', error: error.message }
  if (error instanceof errors.InvalidArgumentError) throw error // undici will not send what we made: our mistake
  if (error instanceof errors.UndiciError || error instanceof errors.HTTPParserError) {
    return { ...none, kind: 'unreachable', error: `request: ${error.message} (${error.code})` }
  }
  if (codeOf(error) === 'failed') throw error
  return { ...none, kind: 'unreachable', error: `request: ${codeOf(error)}` }
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000
}
