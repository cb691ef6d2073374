// POST /api/operator/verify: a step through the whole ledger, beside the reconciler's own walk.
import { verify } from '#event'
import { sendJson } from '../answer.ts'
import { withDeadline } from '../deadline.ts'
import type { HttpDependencies } from '../http.ts'
import type { OperatorHandler } from './access.ts'
import { readBody } from './read-body.ts'
import { verifySchema } from './step-schema.ts'

// Within the two seconds that a statement of the web process has, on a slow machine too.
const eventsOfStep = 1000
const suspectsShown = 10

export function verifyLedger({ database }: Pick<HttpDependencies, 'database'>): OperatorHandler {
  return async (_operator, request, response) => {
    const { after = null } = await readBody(request, response, verifySchema)
    const {
      first: _first,
      altered_body: _bodies,
      suspects,
      ...step
    } = await withDeadline(() => verify(database, after, eventsOfStep))
    sendJson(response, 200, { ...step, suspects: suspects.slice(0, suspectsShown) })
  }
}
