// Receivers for webhook tests: real HTTPS servers on loopback, and TCP listeners. Both count their connections.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type Server, type Socket } from 'node:net'

import type { Identity } from './certificate.ts'

export interface ReceivedRequest {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The name the sender asked for in the TLS handshake; false without one. */
  readonly serverName: unknown
}

export interface Listener {
  readonly port: number
  /** TCP connections accepted so far. */
  readonly connections: () => number
  /** Connections that are open now. */
  readonly open: () => number
  close(): Promise<void>
}

export interface Receiver extends Listener {
  /** Whole requests received so far. */
  readonly requests: ReceivedRequest[]
}

export type Answer = (response: ServerResponse, request: ReceivedRequest) => void

/** Starts an HTTPS receiver that answers each whole request with `answer`. */
export async function createReceiver(
  identity: Identity,
  answer: Answer,
  host = '127.0.0.2',
  port = 0,
): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  const server = createHttpsServer(identity, (request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    response.on('error', () => {})
    request.on('end', () => {
      const { method, url: path, headers, socket } = request
      const serverName = 'servername' in socket ? socket.servername : null
      const received = { method, path, headers, body: Buffer.concat(chunks), serverName }
      requests.push(received)
      answer(response, received)
    })
  })
  return { requests, ...(await listen(server, host, port)) }
}

/** Starts a plain TCP listener that hands each connection to `serve`. */
export async function createListener(
  serve: (socket: Socket) => void,
  host = '127.0.0.2',
  port = 0,
): Promise<Listener> {
  return listen(createServer(serve), host, port)
}

async function listen(server: Server, host: string, port: number): Promise<Listener> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => {})
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  server.once('error', reject)
  server.listen(port, host, () => resolve(undefined))
  await promise
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening on TCP')
  return {
    port: address.port,
    connections: () => connections,
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}
