// GET /metrics for Prometheus. Some metrics are of this process: requests, waiters and Node figures. Others are of the whole
// service and the same on every web process (take the maximum, not the sum): the present queue, workers and ledger
// (service-gauges.ts), and counts of the event log since this process started (progress-counters.ts).
import { Registry, collectDefaultMetrics } from 'prom-client'
import { cachedRead } from '#database'
import type { ProblemCode } from '#error'
import { sendBody } from './answer.ts'
import { createFigures } from './figure.ts'
import type { HttpContext } from './http.ts'
import { withDeadline } from './problem.ts'
import { createProgressCounters } from './progress-counters.ts'
import type { Handler } from './request.ts'
import { createServiceGauges } from './service-gauges.ts'

const knownMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** @param countRefusal called for each error answer. */
export function createMetrics(
  { database, waiter, resultStreams, readiness }: HttpContext,
  countRefusal: (problem: ProblemCode) => void,
): { readonly count: Handler; readonly read: Handler } {
  const registry = new Registry()
  const { counter, gauge, histogram } = createFigures(registry)
  collectDefaultMetrics({ register: registry })
  // Removed, because these gauges have names of counters, and only sum up other metrics that count the same by type.
  for (const kind of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${kind}_total`)
  const requests = histogram(
    'http_request_duration',
    'Duration of requests to this process, by route, method and status.',
    ['route', 'method', 'status'],
  )
  const rejections = counter('http_problems', 'Error answers of this process, by error code.', [
    'error',
  ])
  const waiters = gauge('waiters', 'Requests of this process that wait for a result.')
  const streams = gauge(
    'streams_open',
    'Open streams of this process; the request durations do not include them.',
  )
  const reachable = gauge(
    'database_up',
    '1 when the database answered this scrape; at 0 the figures of the whole service are out of date.',
  )
  const ready = gauge('ready', '1 when /readyz of this process would answer that it is ready.')
  const gauges = createServiceGauges(database, registry)
  const progress = createProgressCounters(database, registry)

  // Scrapes at the same time share one read of the database.
  const figures = cachedRead(() => Promise.all([gauges(), progress()]), 0)

  return {
    count: (request, response, next) => {
      const start = performance.now()
      response.once('finish', () => {
        const { route = 'none', method } = request
        // Clients choose the method, and each value is a series for good, so unknown methods become `other`.
        const labels = {
          route,
          method: knownMethods.includes(method ?? '') ? method : 'other',
          status: response.statusCode,
        }
        if (request.isStream !== true) requests.observe(labels, (performance.now() - start) / 1000)
        if (request.problem === undefined) return
        rejections.inc({ error: request.problem })
        countRefusal(request.problem)
      })
      return next()
    },
    read: async (_request, response) => {
      waiters.set(waiter.waiting)
      streams.set(resultStreams.open)
      const [read, missing] = await Promise.allSettled([
        withDeadline(figures),
        withDeadline(readiness),
      ])
      reachable.set(Number(read.status === 'fulfilled'))
      ready.set(Number(missing.status === 'fulfilled' && missing.value === null))
      sendBody(response, 200, registry.contentType, await registry.metrics())
    },
  }
}
