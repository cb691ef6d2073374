// GET /api/result/{id}: the record as it stands, or with wait=true as soon as it is final.
import type { Database } from '#database'
import { isFinal, readTrackedResult } from '#result'
import { sendJson } from './answer.ts'
import { withDeadline } from './deadline.ts'
import type { HttpDependencies } from './http.ts'
import { noSubmission } from './problem.ts'
import {
  hangUpSignal,
  invalidRequest,
  isUuid,
  readQuery,
  readWait,
  waitSeconds,
} from './request.ts'
import type { Handler } from './request.ts'

export function readSubmissionResult(
  dependencies: Pick<HttpDependencies, 'database' | 'waiter' | 'syncWaitSeconds'>,
): Handler {
  const { database, waiter, syncWaitSeconds } = dependencies

  return async (request, response) => {
    const { query, issues: queryIssues } = readQuery(request, ['wait'])
    const { wait, issues: waitIssues } = readWait(query)
    const issues = [...queryIssues, ...waitIssues]
    if (issues.length > 0) throw invalidRequest(issues)

    const id = request.params['id'] ?? ''
    const { accountId } = request.caller
    const read = async () =>
      isUuid(id) ? withDeadline(() => readTrackedResult(database, id, accountId)) : null
    let record = await read()
    if (record !== null && wait && !isFinal(record)) {
      const hungUp = hangUpSignal(response)
      const end = waiter.wait(record.id, waitSeconds(request, syncWaitSeconds), hungUp)
      await withDeadline(() => awaitSubmission(database, id, waiter.channel))
      record = await read()
      if (record !== null && !isFinal(record)) {
        const told = await end
        if (hungUp.aborted) return
        record = told.record ?? (await read())
      }
    }
    if (record === null) throw noSubmission()
    sendJson(response, 200, record)
  }
}

async function awaitSubmission(database: Database, id: string, toldTo: string): Promise<void> {
  await database`select runledger.await_submission(${id}, ${toldTo})`
}
