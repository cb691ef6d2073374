// GET /api/operator/find, workers, running, webhooks, webhooks/{id} and reruns, and POST webhooks/{id}/replay.
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
import { sendJson } from '../answer.ts'
import { withDeadline } from '../deadline.ts'
import type { HttpDependencies } from '../http.ts'
import { listParameters } from '../list.ts'
import { isUuid, readParameters, refuseQuery } from '../request.ts'
import type { OperatorHandler } from './access.ts'
import { readBody } from './read-body.ts'
import { campaignName, accountName, idParameter, replaySchema } from './step-schema.ts'

type Dependencies = Pick<HttpDependencies, 'database'>

/** Of a key its first characters are enough: a whole one would stand in logs. */
const soughtText = v.pipe(
  accountName,
  v.description(
    'A submission’s id, an account’s name or a part of it, or a key’s id or first 12 characters.',
  ),
)

/** In queries of operators; each is optional but `campaign`. */
export const operatorParameters = {
  gone: v.pipe(
    v.picklist(['true', 'false'], 'must be true or false'),
    v.description('true: also those that ended in the last day.'),
  ),
  state: v.picklist(webhookStates, `must be one of ${webhookStates.join(', ')}`),
  before: v.pipe(idParameter, v.description('The last webhook_id of the page before.')),
  campaign: campaignName,
  after: v.pipe(idParameter, v.description('next of the page before.')),
  account: v.pipe(accountName, v.description('404 unless there is an account of this name.')),
  q: soughtText,
} as const

const { gone, state, before, campaign, after, account, q } = operatorParameters
const { limit } = listParameters
const findQuery = v.object({ q })
const workerQuery = v.partial(v.object({ gone }))
const webhookQuery = v.partial(v.object({ state, before, limit }))
const rerunQuery = v.object({
  campaign,
  after: v.optional(after),
  account: v.optional(account),
})
const webhooksUnlessSaid = 50

export function findAny({ database }: Dependencies): OperatorHandler {
  return async (_operator, request, response) => {
    const { q: text } = readParameters(request, findQuery)
    sendJson(response, 200, await withDeadline(() => find(database, text)))
  }
}

export function sendWorkers({ database }: Dependencies): OperatorHandler {
  return async (_operator, request, response) => {
    const withGone = readParameters(request, workerQuery).gone === 'true'
    const workers = await withDeadline(() => listWorkers(database, { withGone }))
    sendJson(response, 200, { workers })
  }
}

export function sendRunning({ database }: Dependencies): OperatorHandler {
  return async (_operator, request, response) => {
    refuseQuery(request)
    sendJson(response, 200, { running: await withDeadline(() => listRunning(database)) })
  }
}

export function sendWebhooks({ database }: Dependencies): OperatorHandler {
  return async (_operator, request, response) => {
    const { limit: most = webhooksUnlessSaid, ...rest } = readParameters(request, webhookQuery)
    const page = { ...rest, limit: most }
    sendJson(response, 200, { webhooks: await withDeadline(() => listWebhooks(database, page)) })
  }
}

export function sendWebhook({ database }: Dependencies): OperatorHandler {
  return async (_operator, request, response) => {
    refuseQuery(request)
    const { webhook, events } = await findWebhook(database, request.params['id'] ?? '')
    const shown = events.map(({ version, type, at, data, metadata }) => ({
      version,
      type,
      at,
      data,
      metadata,
    }))
    sendJson(response, 200, { webhook, events: shown })
  }
}

export function replayWebhook({ database }: Dependencies): OperatorHandler {
  return async ({ apiKeyId }, request, response) => {
    const { secret } = await readBody(request, response, replaySchema)
    const { webhook } = await findWebhook(database, request.params['id'] ?? '')
    const metadata = { request: request.requestId, actor: { api_key: apiKeyId } }
    const was = await withDeadline(() =>
      replayDelivery(database, webhook.webhook_id, secret, metadata),
    )
    if (was === 'purged') throw new Problem('purged', 'Its address was removed with its submission’s bodies.') // prettier-ignore
    if (was !== 'delivered' && was !== 'abandoned')
      throw new Problem(
        'not_final',
        'Only a webhook that was delivered or abandoned is sent again.',
      )
    sendJson(response, 200, { webhook: webhook.webhook_id, replayed: true, was })
  }
}

export function sendReruns({ database }: Dependencies): OperatorHandler {
  return async (_operator, request, response) => {
    const asked = readParameters(request, rerunQuery)
    const page = await withDeadline(async () => {
      if (asked.account !== undefined && !(await hasAccount(database, asked.account))) return null
      return readReruns(database, asked.campaign, asked.after ?? null)
    })
    if (page === null) throw new Problem('not_found', 'There is no account of this name.')
    sendJson(response, 200, page)
  }
}

async function findWebhook(
  database: HttpDependencies['database'],
  id: string,
): Promise<NonNullable<Awaited<ReturnType<typeof readWebhook>>>> {
  const found = isUuid(id) ? await withDeadline(() => readWebhook(database, id)) : null
  if (found === null) throw new Problem('not_found', 'There is no such webhook.')
  return found
}
