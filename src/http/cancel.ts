// POST /api/result/{id}/cancel: cancels a submission. The answer is the record as it is: of what runs, the end follows.
import { cancelSubmission } from '#enqueue'
import { readTrackedResult } from '#result'
import { sendJson } from './answer.ts'
import type { HttpDependencies } from './http.ts'
import { readOwn } from './read.ts'
import { describeOrigin, refuseQuery } from './request.ts'
import type { Handler } from './request.ts'

export function cancelResult({ database }: Pick<HttpDependencies, 'database'>): Handler {
  return async (request, response) => {
    refuseQuery(request)
    const metadata = describeOrigin(request)
    const record = await readOwn(request, async (id, accountId, signal) => {
      const state = await cancelSubmission(database, id, accountId, metadata, signal)
      return state === null ? null : readTrackedResult(database, id, accountId)
    })
    sendJson(response, 200, record)
  }
}
