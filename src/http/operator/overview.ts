// GET /api/operator/overview and series: the whole service at one look, and how the last hours went. All who look within a second,
// or ten, share one.
import { createCachedOverview, createCachedSeries } from '#operator'
import { sendJson } from '../answer.ts'
import { withDeadline } from '../deadline.ts'
import type { HttpDependencies } from '../http.ts'
import { refuseQuery } from '../request.ts'
import type { OperatorHandler } from './access.ts'
import type { Refusals } from './refusal.ts'

export function answerOverview(
  { database }: Pick<HttpDependencies, 'database'>,
  refusals: Refusals,
): OperatorHandler {
  const read = createCachedOverview(database)
  return async (operator, request, response) => {
    refuseQuery(request)
    const overview = await withDeadline(read)
    const { isReadOnly } = operator
    sendJson(response, 200, { ...overview, refusals: refusals.read(), read_only: isReadOnly })
  }
}

export function answerSeries(
  { database }: Pick<HttpDependencies, 'database'>,
  refusals: Refusals,
): OperatorHandler {
  const read = createCachedSeries(database)
  return async (_operator, request, response) => {
    refuseQuery(request)
    const series = await withDeadline(read)
    const points = series.points.map((point) => {
      const ago = (Date.parse(series.at) - Date.parse(point.at)) / 1000
      return { ...point, refused: refusals.countBetween(ago, ago - point.seconds) }
    })
    sendJson(response, 200, { ...series, points })
  }
}
