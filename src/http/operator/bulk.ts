// POST /api/operator/bulk: counts what fits a filter, or does something to a step of it.
import type * as v from 'valibot'
import type { Issue } from '#error'
import { capCampaign, countBulk, takeBulkStep } from '#operator'
import type { BulkOrder } from '#operator'
import { sendJson } from '../answer.ts'
import { withDeadline } from '../deadline.ts'
import type { HttpDependencies } from '../http.ts'
import { invalidRequest } from '../request.ts'
import type { OperatorHandler } from './access.ts'
import { readBody } from './read-body.ts'
import { bulkSchema } from './step-schema.ts'

// A step ends by itself a second after it began, but for what it then does.
const stepMilliseconds = 5000
const rerunsAtOnce = 10

type BulkRequest = v.InferOutput<typeof bulkSchema>

export function actInBulk({
  database,
  queueCapacity,
}: Pick<HttpDependencies, 'database' | 'queueCapacity'>): OperatorHandler {
  return async ({ apiKeyId }, request, response) => {
    const asked = await readBody(request, response, bulkSchema)
    const order = readOrder(asked)
    const metadata = { request: request.requestId, actor: { api_key: apiKeyId } }
    const step = await withDeadline(
      (signal) =>
        asked.dry_run
          ? countBulk(database, order)
          : takeBulkStep(database, order, capCampaign(queueCapacity), metadata, signal),
      stepMilliseconds,
    )
    sendJson(response, 200, { action: order.action, until: order.filter.until, ...step })
  }
}

/** @throws {Problem} 400 with all that is wrong. */
function readOrder(asked: BulkRequest): BulkOrder {
  const issues = judge(asked)
  if (issues.length > 0) throw invalidRequest(issues)
  const { action, filter, after = null, campaign = null, secret = null } = asked
  const { at_once: atOnce = rerunsAtOnce } = asked
  const until = filter.until ?? new Date().toISOString()
  return { action, filter: { ...filter, until }, after, campaign, atOnce, secret }
}

/** What holds between fields. */
function judge(asked: BulkRequest): readonly Issue[] {
  const { action, filter, dry_run: isDry, campaign, at_once: atOnce, secret } = asked
  const rows: readonly (readonly [boolean, string, string])[] = [
    [action === 'rerun' && campaign === undefined, 'campaign', 'is required to run again'],
    [action !== 'rerun' && campaign !== undefined, 'campaign', 'is for rerun'],
    [action !== 'rerun' && atOnce !== undefined, 'at_once', 'is for rerun'],
    [action === 'rerun' && filter.since === undefined, 'filter.since', 'is required to run again'],
    [
      action === 'replay' && filter.account === undefined,
      'filter.account',
      'is required to send again',
    ],
    [action === 'replay' && !isDry && secret === undefined, 'secret', 'is required to send again'],
    [action !== 'replay' && secret !== undefined, 'secret', 'is for replay'],
    [action !== 'replay' && filter.webhook !== undefined, 'filter.webhook', 'is for replay'],
  ]
  return rows.filter(([isWrong]) => isWrong).map(([, path, message]) => ({ path, message }))
}
