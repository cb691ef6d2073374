// GET /api/result/{id}: the record as it stands, or with wait=true as soon as it is final.
import { isFinal, readTrackedResult } from '#result'
import type { TrackedResult } from '#result'
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
  const { database, syncWaitSeconds } = dependencies

  return async (request, response) => {
    const { query, issues: queryIssues } = readQuery(request, ['wait'])
    const { wait, issues: waitIssues } = readWait(query)
    const issues = [...queryIssues, ...waitIssues]
    if (issues.length > 0) throw invalidRequest(issues)

    const id = request.params['id'] ?? ''
    const { accountId } = request.caller
    let record = isUuid(id)
      ? await withDeadline(() => readTrackedResult(database, id, accountId))
      : null
    if (record !== null && wait && !isFinal(record)) {
      const hungUp = hangUpSignal(response)
      const seconds = waitSeconds(request, syncWaitSeconds)
      record = await waitForEnd(dependencies, record.id, accountId, seconds, hungUp)
      if (hungUp.aborted) return
    }
    if (record === null) throw noSubmission()
    sendJson(response, 200, record)
  }
}

/** Resolves with the record at the end of a submission that is stored, or as it is when the time is up or nobody waits. */
export async function waitForEnd(
  { database, waiter }: Pick<HttpDependencies, 'database' | 'waiter'>,
  id: string,
  accountId: string,
  seconds: number,
  hungUp: AbortSignal,
): Promise<TrackedResult | null> {
  const read = async (): Promise<TrackedResult | null> =>
    withDeadline(() => readTrackedResult(database, id, accountId))
  const end = waiter.wait(id, seconds, hungUp)
  await withDeadline(
    async () => database`select runledger.await_submissions(${[id]}::uuid[], ${waiter.channel})`,
  )
  const now = await read()
  if (now === null || isFinal(now)) return now
  return (await end).record ?? read()
}
