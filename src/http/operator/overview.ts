// GET /api/operator/overview: the whole service at one look. All who look within a second share one.
import { createOverviewDesk } from '#operator'
import { sendJson } from '../answer.ts'
import { withDeadline } from '../deadline.ts'
import type { HttpDependencies } from '../http.ts'
import { invalidRequest, readQuery } from '../request.ts'
import type { OperatorHandler } from './access.ts'
import type { Refusals } from './refusal.ts'

export function tellOverview(
  { database }: Pick<HttpDependencies, 'database'>,
  refusals: Refusals,
): OperatorHandler {
  const desk = createOverviewDesk(database)
  return async (operator, request, response) => {
    const { issues } = readQuery(request, [])
    if (issues.length > 0) throw invalidRequest(issues)
    const overview = await withDeadline(() => desk.read())
    const { isReadOnly } = operator
    sendJson(response, 200, { ...overview, refusals: refusals.read(), read_only: isReadOnly })
  }
}
