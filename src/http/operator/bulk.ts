// Work that an operator does in steps. POST /api/operator/bulk counts the submissions or webhooks that match a filter, or acts
// on them. POST /api/operator/verify checks the whole ledger, in addition to the reconciler's own walk.
import type * as v from 'valibot'
import type { Issue } from '#error'
import { verify } from '#event'
import { countBulk, takeBulkStep } from '#operator'
import { sendJson } from '../answer.ts'
import { readBody } from '../body.ts'
import type { HttpContext } from '../http.ts'
import { withDeadline } from '../problem.ts'
import { describeOrigin, invalidRequest } from '../request.ts'
import type { Handler } from '../request.ts'
import { bulkSchema, verifySchema } from './request-schema.ts'

// A step starts no further item after its first second; the rest of the time is for the item under way.
const stepMilliseconds = 5000
// Even a slow machine verifies this many in the two seconds that a statement of the web process may take.
const verifiedEvents = 1000
const suspectsShown = 10

export function actInBulk({ database, queueCapacity }: HttpContext): Handler {
  return async (request, response) => {
    const asked = await readBody(request, response, bulkSchema)
    const issues = judge(asked)
    if (issues.length > 0) throw invalidRequest(issues)
    const { action, filter } = asked
    const { until = new Date().toISOString() } = filter
    const bulk = { ...asked, filter: { ...filter, until } }
    const metadata = describeOrigin(request)
    const step = await withDeadline(
      (signal) =>
        asked.dry_run
          ? countBulk(database, bulk)
          : takeBulkStep(database, bulk, queueCapacity, metadata, signal),
      stepMilliseconds,
    )
    sendJson(response, 200, { action, until, ...step })
  }
}

export function verifyLedger({ database }: HttpContext): Handler {
  return async (request, response) => {
    const { after = null } = await readBody(request, response, verifySchema)
    const found = await withDeadline(() => verify(database, after, verifiedEvents))
    const { first: _first, altered_body: _bodies, suspects, ...step } = found
    sendJson(response, 200, { ...step, suspects: suspects.slice(0, suspectsShown) })
  }
}

/** Checks the fields against each other. */
function judge(asked: v.InferOutput<typeof bulkSchema>): readonly Issue[] {
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
