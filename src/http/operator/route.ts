// The operators' routes, in reading order.
import { Problem } from '#error'
import { commandWorker, createCachedOverview, createCachedSeries, wantedBy } from '#operator'
import { sendJson } from '../answer.ts'
import { withDeadline } from '../deadline.ts'
import type { HttpContext, Route } from '../http.ts'
import { describeOrigin, isUuid, refuseQuery } from '../request.ts'
import type { Handler } from '../request.ts'
import { forOperators, forSteering } from './access.ts'
import { actInBulk, verifyLedger } from './bulk.ts'
import { listRoutes } from './list.ts'
import type { Refusals } from './refusal.ts'

export function operatorRoutes(context: HttpContext, refusals: Refusals): readonly Route[] {
  const commands = (Object.keys(wantedBy) as CommandWord[]).map((word): Route => {
    const handler = forSteering(giveCommand(context, word))
    return ['POST', `/api/operator/workers/:id/${word}`, handler]
  })
  return [
    ['GET', '/api/operator/overview', forOperators(answerOverview(context, refusals))],
    ['GET', '/api/operator/series', forOperators(answerSeries(context, refusals))],
    ...listRoutes(context),
    ['POST', '/api/operator/bulk', forSteering(actInBulk(context))],
    ['POST', '/api/operator/verify', forSteering(verifyLedger(context))],
    ...commands,
  ]
}

type CommandWord = keyof typeof wantedBy

/** Stores a command for a worker, which obeys it at its next heartbeat. */
function giveCommand({ database }: HttpContext, word: CommandWord): Handler {
  return async (request, response) => {
    refuseQuery(request)
    const id = request.params['id'] ?? ''
    const worker = isUuid(id)
      ? await withDeadline((signal) =>
          commandWorker(database, id, wantedBy[word], describeOrigin(request), signal),
        )
      : null
    if (worker === null) throw new Problem('not_found', 'There is no such worker.')
    sendJson(response, 200, worker)
  }
}

/** Answers with an overview of the whole service; requests within a second share one. */
function answerOverview({ database }: HttpContext, refusals: Refusals): Handler {
  const read = createCachedOverview(database)
  return async (request, response) => {
    refuseQuery(request)
    const overview = await withDeadline(read)
    const isReadOnly = request.operator?.isReadOnly
    sendJson(response, 200, { ...overview, refusals: refusals.read(), read_only: isReadOnly })
  }
}

/** Answers with figures of the last hours; requests within ten seconds share one read. */
function answerSeries({ database }: HttpContext, refusals: Refusals): Handler {
  const read = createCachedSeries(database)
  return async (request, response) => {
    refuseQuery(request)
    const series = await withDeadline(read)
    const points = series.points.map((point) => {
      const ago = (Date.parse(series.at) - Date.parse(point.at)) / 1000
      return { ...point, refused: refusals.countBetween(ago, ago - point.seconds) }
    })
    sendJson(response, 200, { ...series, points })
  }
}
