// The HTTP and HTTPS server, with limits against clients that stall, send garbage or never read.
import { STATUS_CODES, createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { Problem } from '#error'
import { strictTransportSecurity } from './https.ts'
import { describeProblem } from './problem.ts'
import type { ApiRequest } from './request.ts'

export interface TransportOptions {
  /** Certificate and key as PEM texts; null: plain HTTP, for loopback or behind a router. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  /** After this time an incomplete request is answered 408 and its connection closed. Default 15 s. */
  readonly requestSeconds?: number
}

const defaultRequestSeconds = 15
// How often Node checks for late requests. A check may itself be late, so the timeouts are two intervals shorter.
const checkingMilliseconds = 500

/** The most requests of one connection that may wait for answers; only a client that does not read answers sends more. */
const pipelinedMost = 16

/** `rawPacket` holds the bytes that Node was parsing. */
type ClientError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer }

/** A request without a complete answer. */
type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse }

interface ClosingServer {
  readonly server: Server
  /**
   * From now on every answer closes its connection, so that clients reconnect to another process. Closing a connection
   * without an answer could fail a request that is already on its way.
   */
  sayFarewell(): void
  /**
   * Replaces the certificate from the next handshake on.
   * @throws when the texts are not a certificate and its key; the present certificate then stays in use.
   */
  renewCertificate(tls: NonNullable<TransportOptions['tls']>): void
}

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
    // Above the 60 s of common routers, so that the router closes first.
    keepAliveTimeout: 65_000,
    maxHeaderSize: 16 * 1024,
    // Node's 400 would have no body, so request.ts answers instead.
    requireHostHeader: false,
  }
  // The exchanges of each socket, the oldest first.
  const open = new Map<Socket, Exchange[]>()
  // Requests that were answered before they were complete; further bytes on their connections still belong to them.
  const early = new WeakMap<Socket, IncomingMessage>()
  let isEnding = false
  const listener: RequestListener = (request, response) => {
    const { socket } = request
    const exchanges = open.get(socket) ?? []
    // Node passes on all requests that it has read before it pauses the socket.
    if (exchanges.length === pipelinedMost) socket.destroy()
    if (socket.destroyed) return
    if (!open.has(socket)) {
      open.set(socket, exchanges)
      socket.once('close', () => {
        open.delete(socket)
        closeWaiting(exchanges)
      })
    }
    const exchange = { request, response }
    exchanges.push(exchange)
    response.once('close', () => {
      exchanges.splice(exchanges.indexOf(exchange), 1)
      if (!request.complete) early.set(socket, request)
    })
    if (isEnding) response.shouldKeepAlive = false
    application(request, response)
  }
  const server: Server =
    tls === null
      ? createHttpServer(limits)
      : createHttpsServer({ ...limits, ...tls, handshakeTimeout: limits.headersTimeout })
  // Before the handshake no answer can be sent.
  server.prependListener('tlsClientError', (_error, socket: Socket) => socket.destroy())
  server.on('request', listener)
  // These replace Node's handling of `Expect`: body.ts asks for the body.
  server.on('checkContinue', listener)
  server.on('checkExpectation', listener)
  server.on('clientError', (error: ClientError, socket: Socket) => {
    if (early.get(socket)?.complete === false) socket.destroy()
    else {
      const exchanges = open.get(socket) ?? []
      const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      if (isLate && exchanges.some(({ request }) => mayTakeLonger(request))) return
      answerClientError(error, socket, exchanges)
    }
  })
  return {
    server,
    sayFarewell() {
      isEnding = true
      for (const exchanges of open.values())
        for (const { response } of exchanges) response.shouldKeepAlive = false
    },
    renewCertificate(renewed) {
      createSecureContext(renewed)
      ;(server as TlsServer).setSecureContext(renewed)
    },
  }
}

/**
 * Closes the responses that wait for their turn on a closed connection. Node closes only the response whose turn it is, so
 * these would keep their streams, waits and bytes for ever.
 */
function closeWaiting(exchanges: readonly Exchange[]): void {
  for (const { response } of exchanges.filter((one) => one.response.socket === null)) {
    response.destroy()
    response.emit('close')
  }
}

// Answers a request that the parser refuses or that is late, and ends the connection. Complete requests before it are answered
// first.
function answerClientError(
  error: ClientError,
  socket: Socket,
  exchanges: readonly Exchange[],
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  // The socket is paused so that a refused request is not completed and carried out.
  socket.pause()
  const refused = exchanges.findLast(({ request }) => !request.complete)
  const before = exchanges.findLast((exchange) => exchange !== refused)
  if (refused?.response.headersSent === true) {
    socket.destroy() // a second answer would count as the answer to another request
  } else if (before === undefined) {
    refuse(socket, error)
  } else {
    before.response.once('finish', () => refuse(socket, error))
  }
}

/** True for an incomplete request whose handler has its own time limit for the arrival. */
function mayTakeLonger(request: IncomingMessage): boolean {
  return (request as Partial<ApiRequest>).boundsArrival === true && !request.complete
}

/** Sends the refusal and ends the connection, without waiting for the client to close it. */
function refuse(socket: Socket, error: ClientError): void {
  if (socket.writable) socket.write(formatRefusal(error, socket instanceof TLSSocket))
  socket.destroySoon()
}

function formatRefusal(error: ClientError, isEncrypted: boolean): string {
  const issues = [{ path: '', message: 'is not valid HTTP' }]
  const problem =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? new Problem('request_timeout', 'The request did not arrive in time.')
      : new Problem('invalid_request', 'This is not a valid HTTP request.', { issues })
  const body = JSON.stringify(describeProblem(problem))
  const { status } = problem
  // An answer to HEAD has no body.
  const isHead = error.rawPacket?.subarray(0, 5).toString('latin1') === 'HEAD '
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n` +
    (isEncrypted ? `Strict-Transport-Security: ${strictTransportSecurity}\r\n` : '') +
    `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${isHead ? '' : body}`
  )
}
