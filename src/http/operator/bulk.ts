// POST /api/operator/bulk: counts what fits a filter, or does something to a step of it.
import * as v from 'valibot'
import type { Issue } from '#error'
import { countBulk, takeBulkStep } from '#operator'
import type { BulkOrder } from '#operator'
import { sendJson } from '../answer.ts'
import { readJson } from '../body.ts'
import { withDeadline } from '../deadline.ts'
import type { HttpDependencies } from '../http.ts'
import { invalidRequest, readQuery } from '../request.ts'
import type { OperatorHandler } from './access.ts'
import { bulkSchema } from './bulk-schema.ts'

// A step ends by itself a second after it began, but for what it then does.
const stepMilliseconds = 5000

export function actInBulk({
  database,
  queueCapacity,
}: Pick<HttpDependencies, 'database' | 'queueCapacity'>): OperatorHandler {
  return async ({ apiKeyId }, request, response) => {
    const { issues: queryIssues } = readQuery(request, [])
    const { json, issues: bodyIssues } = await readJson(request, response)
    const issues = [...queryIssues, ...bodyIssues]
    if (issues.length > 0) throw invalidRequest(issues)
    const { order, isDry } = readOrder(json)
    const metadata = { request: request.requestId, actor: { api_key: apiKeyId } }
    const step = await withDeadline(
      () =>
        isDry ? countBulk(database, order) : takeBulkStep(database, order, queueCapacity, metadata),
      stepMilliseconds,
    )
    sendJson(response, 200, { action: order.action, until: order.filter.until, ...step })
  }
}

/** @throws {Problem} 400 with all that is wrong. */
function readOrder(json: unknown): { readonly order: BulkOrder; readonly isDry: boolean } {
  const parsed = v.safeParse(bulkSchema, json)
  if (!parsed.success) {
    throw invalidRequest(
      parsed.issues.map((issue) => ({ path: v.getDotPath(issue) ?? '', message: issue.message })),
    )
  }
  const {
    action,
    filter,
    dry_run: isDry,
    after = null,
    campaign = null,
    secret = null,
  } = parsed.output
  const issues = judge(parsed.output)
  if (issues.length > 0) throw invalidRequest(issues)
  const until = filter.until ?? new Date().toISOString()
  return { order: { action, filter: { ...filter, until }, after, campaign, secret }, isDry }
}

/** What holds between fields. */
function judge(asked: v.InferOutput<typeof bulkSchema>): readonly Issue[] {
  const { action, filter, dry_run: isDry, campaign, secret } = asked
  const rows: readonly (readonly [boolean, string, string])[] = [
    [action === 'rerun' && campaign === undefined, 'campaign', 'is required to run again'],
    [action !== 'rerun' && campaign !== undefined, 'campaign', 'is for rerun'],
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
