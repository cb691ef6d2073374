// GET /api/operator/find: a submission, an account or a key by what an operator knows of it.
import * as v from 'valibot'
import { find } from '#operator'
import { sendJson } from '../answer.ts'
import { withDeadline } from '../deadline.ts'
import type { HttpDependencies } from '../http.ts'
import { readParameters } from '../request.ts'
import type { OperatorHandler } from './access.ts'
import { accountName } from './step-schema.ts'

/** Of a key its first characters are enough: a whole one would stand in logs. */
export const soughtText = v.pipe(
  accountName,
  v.description(
    'A submission’s id, an account’s name or a part of it, or a key’s id or first 12 characters.',
  ),
)

const query = v.object({ q: soughtText })

export function findAny({ database }: Pick<HttpDependencies, 'database'>): OperatorHandler {
  return async (_operator, request, response) => {
    const { q } = readParameters(request, query)
    sendJson(response, 200, await withDeadline(() => find(database, q)))
  }
}
