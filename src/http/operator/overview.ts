// GET /api/operator/overview: the whole service at one look. All who look within a second share one.
import { createCachedOverview } from '#operator'
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
