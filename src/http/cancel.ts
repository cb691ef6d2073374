// POST /api/result/{id}/cancel: takes a submission back. The answer is the record as it stands: of what runs, the end follows.
import { cancelSubmission } from '#enqueue'
import { readTrackedResult } from '#result'
import { sendJson } from './answer.ts'
import { withDeadline } from './deadline.ts'
import type { HttpDependencies } from './http.ts'
import { noSubmission } from './problem.ts'
import { isUuid, refuseQuery } from './request.ts'
import type { Handler } from './request.ts'

export function cancelResult({ database }: Pick<HttpDependencies, 'database'>): Handler {
  return async (request, response) => {
    refuseQuery(request)
    const id = request.params['id'] ?? ''
    const { accountId, apiKeyId } = request.caller
    const metadata = { request: request.requestId, actor: { api_key: apiKeyId } }
    const record = await withDeadline(async (signal) => {
      if (!isUuid(id)) return null
      const state = await cancelSubmission(database, id, accountId, metadata, signal)
      return state === null ? null : readTrackedResult(database, id, accountId)
    })
    if (record === null) throw noSubmission()
    sendJson(response, 200, record)
  }
}
