// Starts the real application on loopback with a test database, and a client that checks every answer against the contract.
import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { createHttp, createServer, doorNames } from '#http'
import type { HttpDependencies, TransportOptions } from '#http'
import { createLog } from '#log'
import { findNewestMigration } from '#migration-file'
import { createStreams, createWaiter } from '#result'
import type { Waiter } from '#result'
import { checkAnswer } from './contract.ts'
import { openTestDatabase } from './database.ts'
import type { TestDatabase } from './database.ts'
import { createCaller } from './submission.ts'

export interface ServerOptions
  extends
    Partial<Omit<HttpDependencies, 'database' | 'waiter' | 'streams'>>,
    Partial<TransportOptions> {
  /** The address of the database, for which the server makes a pool of its own. */
  readonly url: string
  /** The address on which the server listens; loopback by default. */
  readonly host?: string
  /**
   * The most requests of `call` at once, 64 by default. The server has ten database connections; further requests wait in the
   * server, where they may time out on a slow machine.
   */
  readonly atOnce?: number
  /** The time limit of the server's statements, 2 by default. Large statements take longer on a slow machine. */
  readonly statementSeconds?: number
}

/** The options of a request. A body that is neither text nor bytes is sent as JSON. */
export interface Call {
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** False for answers that are not JSON of the API. */
  readonly checked?: boolean
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The parsed body; undefined when it is no JSON. */
  // eslint-disable-next-line typescript/no-explicit-any -- a test may look at any field
  readonly body: any
}

export interface TestServer {
  readonly port: number
  readonly waiter: Waiter
  readonly database: Database
  /** Issues a key of a new account, by default of the tier `unlimited`. */
  readonly issue: (tier?: string) => Promise<string>
  /** Sends a request with an unlimited key of this helper, unless another key, or null for none, is given. */
  readonly call: (method: string, path: string, call?: Call) => Promise<Answer>
  /** Counts the connections that are open on the server's side. */
  readonly countConnections: () => Promise<number>
  /** Sends raw bytes and returns everything that the server sends until the connection ends. */
  readonly exchange: (bytes: string | Buffer) => Promise<string>
}

/** Starts the application; it stops with the test. */
export async function startServer(
  t: Test,
  sql: Database,
  options: ServerOptions,
): Promise<TestServer> {
  const {
    url,
    host = '127.0.0.1',
    tls = null,
    requestSeconds,
    atOnce = 64,
    statementSeconds = 2,
    ...rest
  } = options
  const database = createDatabase({ url, connections: 10, name: 'test web', statementSeconds })
  const waiter = createWaiter(database, () => {})
  const streams = createStreams(database, () => {})
  const application = createHttp({
    database,
    waiter,
    streams,
    log: createLog('test', 'silent'),
    newestMigration: findNewestMigration(),
    trustProxy: false,
    syncWaitSeconds: 30,
    queueCapacity: 100_000,
    receiptKey: null,
    corsOrigins: [],
    webhookRules: { ranges: [], ports: [443] },
    doors: doorNames,
    console: () => undefined,
    ...rest,
  })
  const { server } = createServer(application, {
    tls,
    ...(requestSeconds !== undefined && { requestSeconds }),
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  t.teardown(async () => {
    agent.destroy()
    server.closeAllConnections()
    server.close()
    await Promise.all([waiter.close(), streams.close()])
    await database.end({ timeout: 1 })
  })
  const issue = async (tier = 'unlimited'): Promise<string> => (await createCaller(sql, tier)).key
  const ownKey = await issue()

  return {
    port,
    waiter,
    database,
    issue,
    async call(method, path, { key = ownKey, headers = {}, body, checked = true } = {}) {
      const isRaw = typeof body === 'string' || body instanceof Uint8Array
      const payload = body === undefined ? undefined : isRaw ? body : JSON.stringify(body)
      const answer = await send({
        secure: tls !== null,
        options: {
          agent: tls === null ? agent : undefined,
          host: '127.0.0.1',
          port,
          method,
          path,
          rejectUnauthorized: false,
          headers: {
            ...(key !== null && { 'X-API-Key': key }),
            ...(payload !== undefined && {
              'Content-Type': 'application/json',
              'Content-Length': Buffer.byteLength(payload),
            }),
            ...headers,
          },
        },
        payload,
      })
      if (checked && method !== 'HEAD') checkAnswer(method, path, answer.status, answer.text)
      return answer
    },
    countConnections: () => promisify(server.getConnections.bind(server))(),
    exchange: (bytes) => exchangeRaw(port, bytes),
  }
}

/**
 * Starts the application with a fresh database; both go with the test.
 * @param options.role the role of the server's connections; runledger_api has only the rights of the web process.
 */
export async function startFreshServer(
  t: Test,
  { role, ...options }: Omit<ServerOptions, 'url'> & { readonly role?: 'runledger_api' } = {},
): Promise<TestServer & Omit<TestDatabase, 'drop'>> {
  const { sql, url } = await openTestDatabase(t)
  const own = role === undefined ? url : `${url}?role=${role}`
  return { ...(await startServer(t, sql, { ...options, url: own })), sql, url }
}

/** Returns the paths of all mistakes that an answer names, in its order. */
export const pathsOf = ({ body }: Answer): string[] =>
  (body.issues ?? []).map(({ path }: { path: string }) => path)

/** A body, and the paths of its mistakes. */
export type Mistaken = readonly [body: object, ...paths: string[]]

/** Checks that each body is refused with 400 for the mistakes at exactly these paths. */
export async function checkMistakes(
  t: Test,
  rows: readonly Mistaken[],
  send: (body: object) => Promise<Answer>,
): Promise<void> {
  for (const [body, ...paths] of rows) {
    const answer = await send(body)
    const found = [answer.status, pathsOf(answer)]
    t.strictSame(found, [400, paths], JSON.stringify([body, answer.body.issues]).slice(0, 300))
  }
}

/** Repeats a request while the answer is a 503 `unavailable`, which a busy machine may cause, as clients do. */
export async function untilAvailable(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (answer.status !== 503 || answer.body?.error !== 'unavailable') return answer
    await sleep(500)
  }
}

async function send(exchange: {
  readonly secure: boolean
  readonly options: object
  readonly payload: string | Uint8Array | undefined
}): Promise<Answer> {
  const request = (exchange.secure ? httpsRequest : httpRequest)(exchange.options)
  return new Promise((resolve, reject) => {
    request.once('error', reject)
    request.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: text.startsWith('{') ? JSON.parse(text) : undefined,
        })
      })
    })
    request.end(exchange.payload)
  })
}

async function exchangeRaw(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.on('error', () => {})
  socket.write(bytes)
  await once(socket, 'close')
  return text
}
