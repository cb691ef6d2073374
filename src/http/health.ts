// For platforms and load balancers: does the process live, can it serve.
import type { HttpDependencies } from './http.ts'
import { unavailable } from './problem.ts'
import { withDeadline } from './deadline.ts'
import { sendJson } from './answer.ts'
import type { Handler } from './request.ts'

/** `GET /healthz`: the process answers. */
export const live: Handler = (_request, response) => sendJson(response, 200, { status: 'ok' })

/** `GET /readyz`: the database answers and the schema is in place. */
export function ready({ database }: Pick<HttpDependencies, 'database'>): Handler {
  return async (_request, response) => {
    const [row] = await withDeadline(
      async () =>
        database`select to_regprocedure('runledger.refresh_result(uuid)') is not null as migrated`,
    )
    if (row?.['migrated'] !== true) throw unavailable()
    sendJson(response, 200, { status: 'ok' })
  }
}
