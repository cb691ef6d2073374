// The door to HTTP: every route in reading order. A handler returns or throws; one place turns what it throws into an
// answer (problem.ts), so that no handler has error handling of its own.
import type { RequestListener } from 'node:http'
import polka from 'polka'
import type { Database } from '#database'
import type { Logger } from '#log'
import type { Waiter } from '#result'
import type { AddressRange } from '#webhook-address'
import { logAccess } from './access-log.ts'
import { authenticate } from './authenticate.ts'
import { submitBatch } from './batch.ts'
import { readEvents } from './events.ts'
import { createReadiness, live, ready } from './health.ts'
import { announceHttps, requireHttps } from './https.ts'
import { listLanguages } from './languages.ts'
import { listSubmissions } from './list.ts'
import { createMetrics } from './metrics.ts'
import { serveOpenApi } from './openapi.ts'
import { sendProblem } from './problem.ts'
import { readSubmissionResult } from './read.ts'
import type { ApiRequest, Handler } from './request.ts'
import { identify, methodNotAllowed, notFound, requireHost } from './request.ts'
import { submit } from './submit.ts'

export { createServer } from './transport.ts'
export type { TransportOptions } from './transport.ts'

/** What the routes work with. */
export interface HttpDependencies {
  readonly database: Database
  readonly waiter: Waiter
  readonly log: Logger
  /** The name of the migration without which the database is older than this code. */
  readonly newestMigration: string
  /** A platform's router stands in front: believe its X-Forwarded-Proto. */
  readonly trustProxy: boolean
  /** How long `wait=true` holds a request. */
  readonly syncWaitSeconds: number
  /** Unfinished submissions over all keys; one more is refused. */
  readonly queueCapacity: number
  /** Ranges that webhooks may reach although they are not public. */
  readonly webhookAllowedRanges: readonly AddressRange[]
}

type Method = 'GET' | 'POST'

/** Creates the application; `createServer` gives it a socket. */
export function createHttp(dependencies: HttpDependencies): RequestListener {
  const { database, waiter, log, trustProxy } = dependencies
  const readiness = createReadiness(dependencies)
  const metrics = createMetrics({ database, waiter, readiness })
  const routes: readonly (readonly [Method, string, Handler])[] = [
    ['POST', '/api/submit', submit(dependencies)],
    ['POST', '/api/submit/batch', submitBatch(dependencies)],
    ['GET', '/api/result/:id', readSubmissionResult(dependencies)],
    ['GET', '/api/result/:id/events', readEvents(dependencies)],
    ['GET', '/api/submissions', listSubmissions(dependencies)],
    ['GET', '/api/languages', listLanguages(dependencies)],
    ['GET', '/openapi.json', serveOpenApi],
    ['GET', '/metrics', metrics.read],
    ['GET', '/healthz', live],
    ['GET', '/readyz', ready(readiness)],
  ]
  const paths = [...new Set(routes.map(([, path]) => path))]

  const app = polka<ApiRequest>({ onError: sendProblem(log), onNoMatch: notFound })
  app.use(identify, logAccess(log), announceHttps(trustProxy), metrics.count)
  for (const path of paths) app.all(path, nameRoute(path))
  app.use('/api', requireHttps(trustProxy), authenticate(database, isSubmission))
  app.use(requireHost)
  for (const [method, path, handler] of routes) app.add(method, path, handler)
  for (const path of paths) {
    const methods = routes.filter((route) => route[1] === path).map(([method]) => method)
    app.all(path, methodNotAllowed(methods))
  }

  return (request, response) => {
    request.url = toOriginForm(request.url ?? '/')
    // polka adds what a plain request lacks, and never rejects: every failure ends in onError.
    void app.handler(request as ApiRequest, response, undefined as never)
  }
}

// runledger.receive_submission looks at the key itself; what is refused before it gets there is another matter.
function isSubmission({ method, route, headers }: ApiRequest): boolean {
  return method === 'POST' && route === '/api/submit' && headers.host !== undefined
}

function nameRoute(path: string): Handler {
  return (request, _response, next) => {
    request.route = path
    return next()
  }
}

// A request line may also hold the whole URL (RFC 9112, 3.2.2); only its path concerns us.
function toOriginForm(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.startsWith('/') || path === '*' ? path : `/${path}`
}
