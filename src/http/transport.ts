// The socket: bounded in time and size against clients that stall, send garbage or never read.
import { STATUS_CODES, createServer as createHttpServer } from 'node:http'
import type {
  IncomingMessage,
  RequestListener,
  Server,
  ServerOptions,
  ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { problemStatus } from '#error'
import type { ProblemCode } from '#error'
import { strictTransportSecurity } from './https.ts'

export interface TransportOptions {
  /** PEM texts; null: plain HTTP, for loopback or behind a router that speaks HTTPS. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  /** A request that is not complete after so long is answered 408 and its connection closed. Default 15 s. */
  readonly requestSeconds?: number
}

const defaultRequestSeconds = 15
// Node looks at its connections so often, and each look may come late; a request is given up one look before the last
// within its time.
const checkingMilliseconds = 500

/** What Node says of a request that it cannot take; `rawPacket`: the bytes it was reading. */
type ClientError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer }

/** A request that has no complete answer yet. */
type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse }

/** A server that can be ended without failing anybody. */
export interface ClosingServer {
  readonly server: Server
  /**
   * From now on each answer says that its connection ends with it, those under way included: who keeps a connection makes
   * another, which leads to another process. To close it without a word would fail the request that is on its way.
   */
  sayFarewell(): void
}

/** Creates the server for an application; the caller makes it listen. */
export function createServer(
  application: RequestListener,
  options: TransportOptions,
): ClosingServer {
  const { tls, requestSeconds = defaultRequestSeconds } = options
  const checking = Math.min(checkingMilliseconds, requestSeconds * 250)
  const limits = {
    requestTimeout: requestSeconds * 1000 - 2 * checking,
    headersTimeout: requestSeconds * 1000 - 2 * checking,
    connectionsCheckingInterval: checking,
    // Longer than the 60 s after which common routers drop idle connections, so that they, not we, close first.
    keepAliveTimeout: 65_000,
    maxHeaderSize: 16 * 1024,
    // Its 400 would have no body; authenticate.ts and request.ts answer in our order and words.
    requireHostHeader: false,
  }
  // Oldest first.
  const open = new Set<Exchange>()
  // Answered before they were complete: what comes later on their connections is still theirs.
  const early = new WeakMap<Socket, IncomingMessage>()
  let isEnding = false
  const listener: RequestListener = (request, response) => {
    const exchange = { request, response }
    open.add(exchange)
    response.once('close', () => {
      open.delete(exchange)
      if (!request.complete) early.set(request.socket, request)
    })
    if (isEnding) response.shouldKeepAlive = false
    application(request, response)
  }
  const server = tls === null ? createHttpServer(limits) : createTlsServer(limits, tls)
  server.on('request', listener)
  // With these listeners `Expect` is ours: body.ts asks for the body when it wants it.
  server.on('checkContinue', listener)
  server.on('checkExpectation', listener)
  server.on('clientError', (error: ClientError, socket: Socket) => {
    if (early.get(socket)?.complete === false) socket.destroy()
    else {
      const exchanges = [...open].filter(({ request }) => request.socket === socket)
      answerClientError(error, socket, exchanges)
    }
  })
  return {
    server,
    sayFarewell() {
      isEnding = true
      for (const { response } of open) response.shouldKeepAlive = false
    },
  }
}

function createTlsServer(
  limits: ServerOptions & { readonly headersTimeout: number },
  tls: NonNullable<TransportOptions['tls']>,
): Server {
  const server = createHttpsServer({ ...limits, ...tls, handshakeTimeout: limits.headersTimeout })
  // Before the handshake there is no way to say what is wrong.
  server.prependListener('tlsClientError', (_error, socket) => socket.destroy())
  return server
}

// What the parser or the clock refuses never becomes a request: it is answered here, then the connection ends. Requests
// that came whole before it on the same connection get their answers first.
function answerClientError(
  error: ClientError,
  socket: Socket,
  exchanges: readonly Exchange[],
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  // Nothing more is read: a request that has been refused must not be completed and carried out after all.
  socket.pause()
  const refused = exchanges.findLast(({ request }) => !request.complete)
  const before = exchanges.findLast((exchange) => exchange !== refused)
  if (refused?.response.headersSent === true) {
    socket.destroy() // its answer is out already, a second one would be taken for another request's
  } else if (before === undefined) {
    refuse(socket, error)
  } else {
    before.response.once('finish', () => refuse(socket, error))
  }
}

/** The last word on a connection, which does not wait for the client to close it too. */
function refuse(socket: Socket, error: ClientError): void {
  if (socket.writable) socket.write(formatRefusal(error, socket instanceof TLSSocket))
  socket.destroySoon()
}

function formatRefusal(error: ClientError, isEncrypted: boolean): string {
  const [code, message]: [ProblemCode, string] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? ['request_timeout', 'The request did not arrive in time.']
      : ['invalid_request', 'This is not a valid HTTP request.']
  const body = JSON.stringify({
    error: code,
    message,
    ...(code === 'invalid_request' && { issues: [{ path: '', message: 'is not valid HTTP' }] }),
  })
  const status = problemStatus[code]
  // An answer to HEAD has no body, even where the rest of the request makes no sense.
  const isHead = error.rawPacket?.subarray(0, 5).toString('latin1') === 'HEAD '
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n` +
    (isEncrypted ? `Strict-Transport-Security: ${strictTransportSecurity}\r\n` : '') +
    `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${isHead ? '' : body}`
  )
}
