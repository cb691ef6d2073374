// POST /api/operator/workers/{id}/pause, drain and resume: the worker heeds it at its next heartbeat.
import { Problem } from '#error'
import { steerWorker } from '#operator'
import type { SteeredWorker } from '#operator'
import { sendJson } from '../answer.ts'
import { withDeadline } from '../deadline.ts'
import type { HttpDependencies } from '../http.ts'
import { isUuid, refuseQuery } from '../request.ts'
import type { OperatorHandler } from './access.ts'

const wantedBy = {
  pause: 'paused',
  drain: 'drained',
  resume: 'working',
} as const satisfies Record<string, SteeredWorker['wanted']>

export type OrderWord = keyof typeof wantedBy

export const orderWords = Object.keys(wantedBy) as readonly OrderWord[]

export function giveOrder(
  { database }: Pick<HttpDependencies, 'database'>,
  word: OrderWord,
): OperatorHandler {
  return async ({ apiKeyId }, request, response) => {
    refuseQuery(request)
    const id = request.params['id'] ?? ''
    const metadata = { request: request.requestId, actor: { api_key: apiKeyId } }
    const worker = await withDeadline(async (signal) =>
      isUuid(id) ? steerWorker(database, id, wantedBy[word], metadata, signal) : null,
    )
    if (worker === null) throw new Problem('not_found', 'There is no such worker.')
    sendJson(response, 200, worker)
  }
}
