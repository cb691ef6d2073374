// The door to HTTP: every route in reading order. A handler returns or throws; one place turns what it throws into an
// answer (problem.ts), so that no handler has error handling of its own.
import type { RequestListener } from 'node:http'
import polka from 'polka'
import type { Database } from '#database'
import type { Logger } from '#log'
import type { Waiter } from '#result'
import type { AddressRange } from '#webhook-address'
import { authenticate } from './authenticate.ts'
import { live, ready } from './health.ts'
import { sendProblem } from './problem.ts'
import { readSubmissionResult } from './read.ts'
import type { ApiRequest, Handler } from './request.ts'
import { identify, methodNotAllowed, notFound } from './request.ts'
import { submit } from './submit.ts'
import { requireHttps } from './transport.ts'

export { createServer } from './transport.ts'
export type { TransportOptions } from './transport.ts'

/** What the routes work with. */
export interface HttpDependencies {
  readonly database: Database
  readonly waiter: Waiter
  readonly log: Logger
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
  const routes: readonly (readonly [Method, string, Handler])[] = [
    ['GET', '/healthz', live],
    ['GET', '/readyz', ready(dependencies)],
    ['POST', '/api/submit', submit(dependencies)],
    ['GET', '/api/result/:id', readSubmissionResult(dependencies)],
  ]

  const app = polka<ApiRequest>({ onError: sendProblem(dependencies.log), onNoMatch: notFound })
  app.use(identify)
  app.use('/api', requireHttps(dependencies.trustProxy), authenticate(dependencies.database))
  for (const [method, path, handler] of routes) app.add(method, path, handler)
  for (const path of new Set(routes.map(([, path]) => path))) {
    app.all(
      path,
      methodNotAllowed(routes.filter((route) => route[1] === path).map(([method]) => method)),
    )
  }
  // polka adds what a plain request lacks, and never rejects: every failure ends in onError.
  return (request, response) => void app.handler(request as ApiRequest, response, undefined as never)
}
