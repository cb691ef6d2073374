// Under /api/operator: GET find, workers, running, webhooks, webhooks/{id} and reruns, and POST webhooks/{id}/replay.
import * as v from 'valibot'
import { Problem } from '#error'
import {
  find,
  hasAccount,
  listRunning,
  listWebhooks,
  listWorkers,
  readReruns,
  readWebhook,
  replayDelivery,
} from '#operator'
import { webhookStates } from '#result'
import { described } from '#schema'
import { sendJson } from '../answer.ts'
import { readBody } from '../body.ts'
import { withDeadline } from '../deadline.ts'
import type { HttpContext, Route } from '../http.ts'
import { listParameters } from '../list.ts'
import { describeOrigin, isUuid, readParameters } from '../request.ts'
import type { Handler } from '../request.ts'
import { forOperators, forSteering } from './access.ts'
import { accountName, campaignName, idParameter, replaySchema } from './step-schema.ts'

/** The first characters of a key are enough, because a whole key in a URL would end up in logs. */
const soughtText = described(
  accountName,
  'A submission’s id, an account’s name or a part of it, or a key’s id or first 12 characters.',
)

/** The query parameters of operators' routes; all are optional but `campaign` and `q`. */
export const operatorParameters = {
  gone: described(
    v.picklist(['true', 'false'], 'must be true or false'),
    'true: the answer also has workers that ended in the last day.',
  ),
  state: v.picklist(webhookStates, `must be one of ${webhookStates.join(', ')}`),
  before: described(idParameter, 'The last webhook_id of the previous page.'),
  campaign: campaignName,
  after: described(idParameter, 'The next of the previous page.'),
  account: described(
    accountName,
    'The name of an account; 404 when there is no account of this name.',
  ),
  q: soughtText,
} as const

const { gone, state, before, campaign, after, account, q } = operatorParameters
const { limit } = listParameters
const webhookQuery = v.partial(v.object({ state, before, limit }))
const rerunQuery = v.object({ campaign, after: v.optional(after), account: v.optional(account) })
const webhooksUnlessSaid = 50

export function listRoutes({ database }: HttpContext): readonly Route[] {
  const findWebhook = async (id: string): Promise<FoundWebhook> => {
    const found = isUuid(id) ? await readWebhook(database, id) : null
    if (found === null) throw new Problem('not_found', 'There is no such webhook.')
    return found
  }

  const replayWebhook: Handler = async (request, response) => {
    const { secret } = await readBody(request, response, replaySchema)
    const { webhook } = await withDeadline(() => findWebhook(request.params['id'] ?? ''))
    const was = await withDeadline(() =>
      replayDelivery(database, webhook.webhook_id, secret, describeOrigin(request)),
    )
    if (was === 'purged')
      throw new Problem('purged', 'The webhook’s address was removed with its submission’s bodies.')
    if (was !== 'delivered' && was !== 'abandoned')
      throw new Problem('not_final', 'Only a delivered or abandoned webhook can be sent again.')
    sendJson(response, 200, { webhook: webhook.webhook_id, replayed: true, was })
  }

  return [
    get('find', v.object({ q }), ({ q: text }) => find(database, text)),
    get('workers', v.partial(v.object({ gone })), async ({ gone: text }) => ({
      workers: await listWorkers(database, { withGone: text === 'true' }),
    })),
    get('running', v.object({}), async () => ({ running: await listRunning(database) })),
    get('webhooks', webhookQuery, async ({ limit: most = webhooksUnlessSaid, ...page }) => ({
      webhooks: await listWebhooks(database, { ...page, limit: most }),
    })),
    get('webhooks/:id', v.object({}), async (_query, id) => {
      const { webhook, events } = await findWebhook(id)
      const shown = ({ version, type, at, data, metadata }: FoundWebhook['events'][number]) => {
        return { version, type, at, data, metadata }
      }
      return { webhook, events: events.map(shown) }
    }),
    ['POST', '/api/operator/webhooks/:id/replay', forSteering(replayWebhook)],
    get('reruns', rerunQuery, async ({ campaign: name, after: last = null, account: of }) => {
      if (of !== undefined && !(await hasAccount(database, of)))
        throw new Problem('not_found', 'There is no account of this name.')
      return readReruns(database, name, last)
    }),
  ]
}

type FoundWebhook = NonNullable<Awaited<ReturnType<typeof readWebhook>>>

/** Returns a GET route that answers with what `read` returns for the query and the id in the path. */
function get<Query extends object>(
  path: string,
  schema: v.GenericSchema<unknown, Query> & { readonly entries: object },
  read: (query: Query, id: string) => Promise<object>,
): Route {
  const handler: Handler = async (request, response) => {
    const query = readParameters(request, schema)
    sendJson(response, 200, await withDeadline(() => read(query, request.params['id'] ?? '')))
  }
  return ['GET', `/api/operator/${path}`, forOperators(handler)]
}
