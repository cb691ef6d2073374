// The HTTP interface: all routes, in reading order. Only problem.ts turns failures into answers.
import type { RequestListener } from 'node:http'
import polka from 'polka'
import type { Console } from '#console'
import type { Database } from '#database'
import { createReceive } from '#enqueue'
import type { Receive } from '#enqueue'
import type { Logger } from '#log'
import type { SigningKey } from '#receipt'
import type { Streams, Waiter } from '#result'
import { authenticate } from './authenticate.ts'
import { submitBatch } from './batch.ts'
import { headBlob, putBlob } from './blob.ts'
import { serveConsole } from './console.ts'
import { allowOrigins } from './cors.ts'
import { enterDoor, openDoors } from './door/door.ts'
import type { DoorName } from './door/door.ts'
import { describeReceiptKey, issueReceipt, readEvents } from './events.ts'
import { createReadiness, live, ready } from './health.ts'
import type { Readiness } from './health.ts'
import { announceHttps, requireHttps } from './https.ts'
import { listLanguages } from './languages.ts'
import { listSubmissions, readManyResults } from './list.ts'
import { createMetrics } from './metrics.ts'
import { createOfferedLanguages } from './offered.ts'
import type { OfferedLanguages } from './offered.ts'
import { serveOpenApi } from './openapi.ts'
import { createRefusals, operatorRoutes } from './operator/route.ts'
import { sendProblem, withDeadline } from './problem.ts'
import { cancelResult, describeRequest, readSubmissionResult } from './read.ts'
import { createDrainEstimate } from './receive.ts'
import { identify, methodNotAllowed, notFound, requireHost } from './request.ts'
import type { ApiRequest, Handler } from './request.ts'
import { rerunResult } from './rerun.ts'
import { createResultStreams, streamResult } from './stream.ts'
import type { ResultStreams } from './stream.ts'
import type { StreamBounds } from './stream-limiter.ts'
import { submit } from './submit.ts'
import type { WebhookRules } from './webhook.ts'

export { doorNames } from './door/door.ts'
export type { DoorName } from './door/door.ts'
export { createServer } from './transport.ts'
export type { TransportOptions } from './transport.ts'

export interface HttpDependencies {
  readonly database: Database
  readonly waiter: Waiter
  readonly streams: Streams
  readonly log: Logger
  /** The migration without which the database is older than this code. */
  readonly newestMigration: string
  /** True to believe X-Forwarded-Proto. */
  readonly trustProxy: boolean
  readonly syncWaitSeconds: number
  /** The most unfinished submissions of all keys together. */
  readonly queueCapacity: number
  /** Origins of other sites whose pages may call the API. */
  readonly corsOrigins: readonly string[]
  /** Where webhooks may go. */
  readonly webhookRules: WebhookRules
  /** The doors that are open. */
  readonly doors: readonly DoorName[]
  /** The time in which an upload must arrive; a minute by default. */
  readonly uploadSeconds?: number
  /** The key that signs receipts; null: the service issues none. */
  readonly receiptKey: SigningKey | null
  /** Bounds that replace the usual ones. */
  readonly streamBounds?: Partial<StreamBounds>
  /** Finds the files of the page at `GET /`. */
  readonly console: Console
}

/** What all handlers share, so that one handler profits from what another asked the database. */
export interface HttpContext extends HttpDependencies {
  readonly readiness: Readiness
  readonly resultStreams: ResultStreams
  readonly offered: OfferedLanguages
  readonly receive: Receive
  /** Reads how many submissions a second ended lately. */
  readonly readDrain: () => Promise<number>
}

/** Method, path and handler. */
export type Route = readonly ['GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE', string, Handler]

export function createHttp(dependencies: HttpDependencies): RequestListener {
  const { database, log, trustProxy } = dependencies
  const readiness = createReadiness(dependencies)
  // Asked once so that it logs what is missing even if nobody asks /readyz. Errors are ignored, because other parts log an
  // unreachable database.
  void readiness().catch(() => {})
  const context: HttpContext = {
    ...dependencies,
    readiness,
    resultStreams: createResultStreams(dependencies),
    offered: createOfferedLanguages(database),
    receive: createReceive(database),
    readDrain: createDrainEstimate(database),
  }
  const refusals = createRefusals()
  const metrics = createMetrics(context, refusals.count)
  const doors = openDoors(context)
  const doorRoutes = doors.flatMap((door) => door.routes)
  const routes: Route[] = [
    ['POST', '/api/submit', submit(context)],
    ['POST', '/api/submit/batch', submitBatch(context)],
    ['GET', '/api/result/:id', readSubmissionResult(context)],
    ['GET', '/api/result/:id/request', describeRequest(context)],
    ['GET', '/api/result/:id/stream', streamResult(context)],
    ['GET', '/api/result/:id/events', readEvents(context)],
    ['GET', '/api/result/:id/receipt', issueReceipt(context)],
    ['POST', '/api/result/:id/cancel', cancelResult(context)],
    ['POST', '/api/result/:id/rerun', rerunResult(context)],
    ['GET', '/api/results', readManyResults(context)],
    ['GET', '/api/submissions', listSubmissions(context)],
    ['GET', '/api/languages', listLanguages(context)],
    ['PUT', '/api/blobs/:sha256', putBlob(context)],
    ['HEAD', '/api/blobs/:sha256', headBlob(context)],
    ...operatorRoutes(context, refusals),
    ['GET', '/receipt-key', describeReceiptKey(dependencies.receiptKey)],
    ['GET', '/openapi.json', serveOpenApi],
    ['GET', '/metrics', metrics.read],
    ['GET', '/healthz', live],
    ['GET', '/readyz', ready(readiness)],
    ...doorRoutes,
  ]
  const routesByPath = Map.groupBy(routes, ([, path]) => path)
  const doorPaths = listPaths(doorRoutes)

  const app = polka<ApiRequest>({
    onError: sendProblem(log, () => withDeadline(readiness)),
    onNoMatch: notFound,
  })
  app.use(identify, logAccess(log), announceHttps(trustProxy))
  // The console comes before the counters, because requests for a page's files are not requests of the API.
  app.use(serveConsole(dependencies.console, trustProxy))
  app.use(metrics.count, allowOrigins(dependencies.corsOrigins, doorPaths))
  for (const path of routesByPath.keys()) app.all(path, nameRoute(path))
  for (const door of doors)
    for (const path of listPaths(door.routes)) app.all(path, enterDoor(door))
  const guards = [requireHttps(trustProxy), authenticate(database)]
  app.use('/api', ...guards)
  for (const path of doorPaths) if (!path.startsWith('/api/')) app.all(path, ...guards)
  app.use(requireHost)
  for (const [method, path, handler] of routes) app.add(method, path, handler)
  for (const [path, own] of routesByPath)
    app.all(path, methodNotAllowed(own.map(([method]) => method)))

  return (request, response) => {
    request.url = toOriginForm(request.url ?? '/')
    // polka adds the fields of its own request type, and never rejects: failures go to onError.
    void app.handler(request as ApiRequest, response, undefined as never)
  }
}

/**
 * Logs one line per request at `debug`. The line holds the path's pattern, because clients choose the path itself. Headers and
 * bodies are never logged.
 */
function logAccess(log: Logger): Handler {
  return (request, response, next) => {
    if (!log.isLevelEnabled('debug')) return next()
    const start = performance.now()
    response.once('close', () => {
      const answer = {
        request: request.requestId,
        method: request.method,
        route: request.route ?? null,
        // Null when the caller left before the answer.
        status: response.writableFinished ? response.statusCode : null,
        milliseconds: Math.round((performance.now() - start) * 10) / 10,
        // Null without a valid key.
        account: (request.caller as typeof request.caller | undefined)?.accountId ?? null,
      }
      log.debug(answer, 'request.answered')
    })
    return next()
  }
}

function listPaths(routes: readonly Route[]): readonly string[] {
  return [...new Set(routes.map(([, path]) => path))]
}

function nameRoute(path: string): Handler {
  return (request, _response, next) => {
    request.route = path
    return next()
  }
}

// Cuts scheme and host, because a request line may hold a whole URL (RFC 9112, 3.2.2).
function toOriginForm(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.startsWith('/') || path === '*' ? path : `/${path}`
}
