// The socket: HTTPS only, bounded in time and size against clients that stall.
import { createServer as createHttpServer } from 'node:http'
import type { RequestListener, Server, ServerOptions } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { isIP } from 'node:net'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { Problem, problemStatus } from '#error'
import type { ProblemCode } from '#error'
import type { Handler } from './request.ts'

export interface TransportOptions {
  /** PEM texts; null: plain HTTP, for loopback or behind a router that speaks HTTPS. */
  readonly tls: { readonly cert: string; readonly key: string } | null
}

// A request that is not complete after 15 s is answered 408 and its connection closed; Node looks once a second.
const limits: ServerOptions = {
  requestTimeout: 15_000,
  headersTimeout: 15_000,
  connectionsCheckingInterval: 1000,
  // Longer than the 60 s after which common routers drop idle connections, so that they, not we, close first.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
}

/** Creates the server for an application; the caller makes it listen. */
export function createServer(application: RequestListener, options: TransportOptions): Server {
  const server =
    options.tls === null
      ? createHttpServer(limits, application)
      : createHttpsServer({ ...limits, ...options.tls }, application)
  server.on('clientError', answerClientError)
  return server
}

/**
 * Lets a request under /api pass only if it came over HTTPS or from this machine, and marks HTTPS answers.
 * @param trustProxy believe a router's X-Forwarded-Proto, and require it.
 */
export function requireHttps(trustProxy: boolean): Handler {
  return (request, response, next) => {
    const secure = trustProxy
      ? request.headers['x-forwarded-proto'] === 'https'
      : (request.socket as Partial<TLSSocket>).encrypted === true
    if (secure)
      response.setHeader('Strict-Transport-Security', 'max-age=63072000; includeSubDomains')
    else if (trustProxy || !isLoopback(request.socket.remoteAddress)) {
      throw new Problem('https_required', 'This service is reached over HTTPS only.', {
        headers: { Connection: 'close' },
      })
    }
    return next()
  }
}

/** True for 127.0.0.0/8 and ::1, also as an IPv4-mapped address. */
export function isLoopback(address: string | undefined): boolean {
  const text = (address ?? '').replace(/^::ffff:/i, '')
  return text === '::1' || (isIP(text) === 4 && text.startsWith('127.'))
}

// What the parser or the clock refuses never becomes a request: it is answered here, then the connection ends.
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [code, message]: [ProblemCode, string] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? ['request_timeout', 'The request did not arrive in time.']
      : ['invalid_request', 'This is not a valid HTTP request.']
  const body = JSON.stringify({ error: code, message })
  socket.end(
    `HTTP/1.1 ${problemStatus[code]} ${code === 'request_timeout' ? 'Request Timeout' : 'Bad Request'}\r\n` +
      `Connection: close\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
