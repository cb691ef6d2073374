// Sends one delivery once. Whatever the receiver does is returned as a value; only the caller's abort and bugs are thrown.
import type { TLSSocket } from 'node:tls'

import { Client, errors, type buildConnector, type Dispatcher } from 'undici'

import { untilAborted } from '#abort'
import { portOf } from './address.ts'
import { codeOf, ConnectionError, openConnection, within } from './connect.ts'
import { parseRetryAfter } from './retry.ts'
import type { DeliverySettings } from './settings.ts'
import { signDelivery } from './signature.ts'

interface Delivery {
  /** The same on every attempt. Printable ASCII without a full stop. */
  readonly id: string
  /** The client's URL, unchanged; every attempt checks it again. */
  readonly url: string
  /** JSON in UTF-8; these bytes are signed and sent. */
  readonly body: Uint8Array
  /** See `signDelivery`; null: the delivery is not signed. */
  readonly secret: string | null
  /** POST when left out. */
  readonly method?: 'POST' | 'PUT'
}

/**
 * `delivered`: a 2xx answer. `gone`: a 410, the receiver wants no more. `refused`: any other answer, redirects included,
 * because they are never followed. `unreachable`: no complete answer head (DNS, connection, TLS, time, or not HTTP).
 * `forbidden`: sending is not allowed (scheme, credentials, port, or an address that is not public).
 */
type DeliveryKind = 'delivered' | 'gone' | 'refused' | 'unreachable' | 'forbidden'

/** The outcome of one attempt. All of it may be shown to the webhook's owner. */
export interface DeliveryOutcome {
  readonly kind: DeliveryKind
  readonly status: number | null
  /** From the call to the end of the attempt. */
  readonly durationSeconds: number
  /**
   * The start of the answer's body, `snippetBytes` at most, with U+FFFD for NUL and invalid UTF-8. Null without an
   * answer.
   */
  readonly snippet: string | null
  /** Clamped `Retry-After` (see `parseRetryAfter`); null when absent or delivered. */
  readonly retryAfterSeconds: number | null
  /** For people: `step: reason`, such as `tls: CERT_HAS_EXPIRED`, without addresses; null after an answer. */
  readonly error: string | null
}

type Attempt = Omit<DeliveryOutcome, 'durationSeconds'>

/** The most bytes that are read of an answer. Its head has 16 KiB at most, and only the start of its body is kept. */
const answerBytesMost = 1024 * 1024
/** The pause between two looks at the bytes that were read. */
const lookMilliseconds = 50

/**
 * Signs the delivery with the present time and sends it over a new connection. The status decides, even if the body
 * breaks off.
 * @param signal ends the attempt; before the answer's head, the promise rejects with its reason.
 */
export async function sendDelivery(
  delivery: Delivery,
  settings: DeliverySettings,
  signal?: AbortSignal,
): Promise<DeliveryOutcome> {
  signal?.throwIfAborted()
  const startedAt = performance.now()
  const attempt = await within('request', settings.totalSeconds, signal, async (limited) => {
    const url = parseTarget(delivery.url, settings)
    const socket = await openConnection(url, settings, limited)
    return exchange(socket, url, delivery, settings, limited)
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw signal.reason
    return describeFailure(error)
  })
  return { ...attempt, durationSeconds: (performance.now() - startedAt) / 1000 }
}

/** Checks the URL again, because an earlier release or other settings may have validated it. */
function parseTarget(text: string, settings: DeliverySettings): URL {
  const url = URL.parse(text)
  if (url === null) throw new ConnectionError('forbidden', 'url: not a URL')
  if (url.protocol !== 'https:') throw new ConnectionError('forbidden', 'url: not https')
  if (url.username !== '' || url.password !== '') {
    throw new ConnectionError('forbidden', 'url: holds credentials')
  }
  const port = portOf(url)
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
): Promise<Attempt> {
  let unused = true
  const handOver: buildConnector.connector = (_, callback) => {
    if (unused && !socket.destroyed) callback(null, socket)
    else callback(Object.assign(new Error('connection lost'), { code: 'ECONNRESET' }), null)
    unused = false
  }
  const client = new Client(url.origin, {
    // The socket is handed over only once, because undici would reconnect when a connection is lost early. The callback runs
    // in a microtask, because undici 8.12 never sends the request when it is called back while it is connecting.
    connect: (options, callback) => queueMicrotask(() => handOver(options, callback)),
    allowH2: false,
    maxHeaderSize: 16_384,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  // Informational answers and extensions of chunks have no end that undici enforces. Reading them kept the process busy until
  // the time was over.
  const watch = setInterval(() => {
    if (socket.bytesRead > answerBytesMost)
      socket.destroy(new ConnectionError('unreachable', 'request: no end of the answer'))
  }, lookMilliseconds)
  try {
    const request = client.request({
      method: delivery.method ?? 'POST',
      path: url.pathname + url.search,
      headers: {
        'content-type': 'application/json',
        'user-agent': `Runledger-Webhooks/${settings.version}`,
        ...describeHeaders(delivery),
      },
      body: delivery.body,
      signal,
      reset: true, // "connection: close"
    })
    // undici ignores the request's signal until it starts to write the request.
    const response = await untilAborted(request, signal)
    const header = response.headers['retry-after']
    const retryAfter = typeof header === 'string' ? header : header?.[0]
    const snippet = await readSnippet(response.body, settings.snippetBytes)
    return describeAnswer(response.statusCode, retryAfter, snippet)
  } finally {
    clearInterval(watch)
    // Not awaited, because a receiver must not be able to delay the return.
    client.destroy().catch(() => {})
    socket.destroy()
  }
}

function describeHeaders({ id, secret, body }: Delivery): Record<string, string> {
  if (secret === null) return { 'webhook-id': id }
  return { ...signDelivery({ id, secret, body, timestamp: Math.floor(Date.now() / 1000) }) }
}

/** Reads the start of the body. A body that breaks off counts as a short body, because the status is already known. */
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
    // The chunks that were read before the error are kept.
  }
  return Buffer.concat(chunks).subarray(0, limit)
}

function describeAnswer(
  status: number,
  retryAfter: string | undefined,
  snippet: Uint8Array,
): Attempt {
  const delivered = status >= 200 && status < 300
  return {
    kind: delivered ? 'delivered' : status === 410 ? 'gone' : 'refused',
    status,
    // NUL is valid UTF-8, but PostgreSQL's text cannot hold it.
    snippet: new TextDecoder().decode(snippet).replaceAll('\0', '\uFFFD'),
    retryAfterSeconds: delivered ? null : parseRetryAfter(retryAfter),
    error: null,
  }
}

function describeFailure(error: unknown): Attempt {
  const none = { status: null, snippet: null, retryAfterSeconds: null }
  if (error instanceof ConnectionError) return { ...none, kind: error.kind, error: error.message }
  if (error instanceof errors.InvalidArgumentError) throw error // undici rejects the request: a bug in this module
  if (error instanceof errors.UndiciError || error instanceof errors.HTTPParserError) {
    return { ...none, kind: 'unreachable', error: `request: ${error.message} (${error.code})` }
  }
  if (codeOf(error) === 'failed') throw error
  return { ...none, kind: 'unreachable', error: `request: ${codeOf(error)}` }
}
