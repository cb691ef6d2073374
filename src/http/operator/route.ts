// The operators' routes, in reading order. Also counts what this process refused in the last hours, by error code, because the
// event log does not record refusals.
import * as v from 'valibot'
import type { Database } from '#database'
import { Problem } from '#error'
import type { ProblemCode } from '#error'
import { isUuid } from '#id'
import {
  commandWorker,
  createCachedOverview,
  createCachedSeries,
  find,
  hasAccount,
  listRunning,
  listWebhooks,
  listWorkers,
  readReruns,
  readWebhook,
  replayDelivery,
  wantedBy,
} from '#operator'
import type { Series } from '#operator'
import { sendJson } from '../answer.ts'
import { forOperators, forSteering } from '../authenticate.ts'
import { readBody } from '../body.ts'
import type { HttpContext, Route } from '../http.ts'
import { listParameters } from '../list.ts'
import { withDeadline } from '../problem.ts'
import { describeOrigin, readParameters, refuseQuery } from '../request.ts'
import type { ApiRequest, Handler } from '../request.ts'
import { actInBulk, verifyLedger } from './bulk.ts'
import { operatorParameters, replaySchema } from './request-schema.ts'

const { gone, state, before, campaign, after, account, q } = operatorParameters
const { limit } = listParameters
const webhookQuery = v.partial(v.object({ state, before, limit }))
const rerunQuery = v.object({ campaign, after: v.optional(after), account: v.optional(account) })
const webhooksUnlessSaid = 50
/** How far back the overview counts refusals, at most. */
const recentSeconds = 300

type CommandWord = keyof typeof wantedBy

export function operatorRoutes(context: HttpContext, refusals: Refusals): readonly Route[] {
  const { database } = context
  // Requests within a second share one overview, and those within ten seconds share one series.
  const readOverview = createCachedOverview(database)
  const readSeries = createCachedSeries(database)
  return [
    get('overview', v.object({}), async (_query, { operator }) => ({
      ...(await readOverview()),
      refusals: {
        seconds: Math.min(recentSeconds, process.uptime()),
        counts: refusals.read(recentSeconds, 0),
      },
      read_only: operator?.isReadOnly,
    })),
    get('series', v.object({}), async () => countRefused(await readSeries(), refusals)),
    get('find', v.object({ q }), ({ q: text }) => find(database, text)),
    get('workers', v.partial(v.object({ gone })), async ({ gone: text }) => ({
      workers: await listWorkers(database, { withGone: text === 'true' }),
    })),
    get('running', v.object({}), async () => ({ running: await listRunning(database) })),
    get('webhooks', webhookQuery, async ({ limit: most = webhooksUnlessSaid, ...page }) => ({
      webhooks: await listWebhooks(database, { ...page, limit: most }),
    })),
    get('webhooks/:id', v.object({}), async (_query, { params }) => {
      const { webhook, events } = await findWebhook(database, params['id'])
      const shown = ({ version, type, at, data, metadata }: FoundWebhook['events'][number]) => {
        return { version, type, at, data, metadata }
      }
      return { webhook, events: events.map(shown) }
    }),
    ['POST', '/api/operator/webhooks/:id/replay', forSteering(replayWebhook(context))],
    get('reruns', rerunQuery, async ({ campaign: name, after: last = null, account: of }) => {
      if (of !== undefined && !(await hasAccount(database, of)))
        throw new Problem('not_found', 'There is no account of this name.')
      return readReruns(database, name, last)
    }),
    ['POST', '/api/operator/bulk', forSteering(actInBulk(context))],
    ['POST', '/api/operator/verify', forSteering(verifyLedger(context))],
    ...(Object.keys(wantedBy) as CommandWord[]).map((word): Route => {
      const handler = forSteering(giveCommand(context, word))
      return ['POST', `/api/operator/workers/:id/${word}`, handler]
    }),
  ]
}

/** Returns a GET route that answers with what `read` returns. */
function get<Query extends object>(
  path: string,
  schema: v.GenericSchema<unknown, Query> & { readonly entries: object },
  read: (query: Query, request: ApiRequest) => Promise<object>,
): Route {
  const handler: Handler = async (request, response) => {
    const query = readParameters(request, schema)
    sendJson(response, 200, await withDeadline(() => read(query, request)))
  }
  return ['GET', `/api/operator/${path}`, forOperators(handler)]
}

/** Adds to each point the requests that this process refused in its time. */
function countRefused(series: Series, refusals: Refusals): object {
  const points = series.points.map((point) => {
    const ago = (Date.parse(series.at) - Date.parse(point.at)) / 1000
    const counts = Object.values(refusals.read(ago, ago - point.seconds))
    return { ...point, refused: counts.reduce((sum, count) => sum + count, 0) }
  })
  return { ...series, points }
}

type FoundWebhook = NonNullable<Awaited<ReturnType<typeof readWebhook>>>

async function findWebhook(database: Database, id = ''): Promise<FoundWebhook> {
  const found = isUuid(id) ? await readWebhook(database, id) : null
  if (found === null) throw new Problem('not_found', 'There is no such webhook.')
  return found
}

function replayWebhook({ database }: HttpContext): Handler {
  return async (request, response) => {
    const { secret } = await readBody(request, response, replaySchema)
    const { webhook } = await withDeadline(() => findWebhook(database, request.params['id']))
    const was = await withDeadline((signal) =>
      replayDelivery(database, webhook.webhook_id, secret, describeOrigin(request), signal),
    )
    if (was === 'purged')
      throw new Problem('purged', 'The webhook’s address was removed with its submission’s bodies.')
    if (was !== 'delivered' && was !== 'abandoned')
      throw new Problem('not_final', 'Only a delivered or abandoned webhook can be sent again.')
    sendJson(response, 200, { webhook: webhook.webhook_id, replayed: true, was })
  }
}

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

type Counts = Readonly<Partial<Record<ProblemCode, number>>>

interface Refusals {
  readonly count: (problem: ProblemCode) => void
  /** Returns the refusals of the minutes that began at most `from` and more than `until` seconds ago. */
  readonly read: (from: number, until: number) => Counts
}

const keptMinutes = 200

/** @param now returns seconds of a clock that never goes back. */
export function createRefusals(now = (): number => performance.now() / 1000): Refusals {
  const minutes = new Map<number, Counts>()
  return {
    count(problem) {
      const minute = Math.floor(now() / 60)
      for (const old of minutes.keys()) if (old <= minute - keptMinutes) minutes.delete(old)
      const counts = minutes.get(minute) ?? {}
      minutes.set(minute, { ...counts, [problem]: (counts[problem] ?? 0) + 1 })
    },
    read(from, until) {
      const sum: Partial<Record<ProblemCode, number>> = {}
      for (const [minute, counts] of minutes) {
        const ago = now() - minute * 60
        if (ago > from || ago <= until) continue
        for (const [code, count] of Object.entries(counts) as [ProblemCode, number][])
          sum[code] = (sum[code] ?? 0) + count
      }
      return sum
    },
  }
}
