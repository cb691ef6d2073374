// POST /api/operator/verify: a step through the whole ledger, beside the reconciler's own walk.
import { verifyStep } from '#operator'
import { sendJson } from '../answer.ts'
import { withDeadline } from '../deadline.ts'
import type { HttpDependencies } from '../http.ts'
import type { OperatorHandler } from './access.ts'
import { readBody } from './read-body.ts'
import { verifySchema } from './step-schema.ts'

export function verifyLedger({ database }: Pick<HttpDependencies, 'database'>): OperatorHandler {
  return async (_operator, request, response) => {
    const { after = null } = await readBody(request, response, verifySchema)
    sendJson(response, 200, await withDeadline(() => verifyStep(database, after)))
  }
}
