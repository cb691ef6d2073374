// GET /api/result/{id}: the record as it is, or with wait=true as soon as it is final. POST /api/result/{id}/cancel cancels the
// submission, and answers the record as it is: of what runs, the end follows.
import type { Database } from '#database'
import { cancelSubmission } from '#enqueue'
import { isFinal, readTrackedResult } from '#result'
import type { TrackedResult } from '#result'
import { sendJson } from './answer.ts'
import { withDeadline } from './deadline.ts'
import type { HttpContext } from './http.ts'
import { noSubmission } from './problem.ts'
import {
  describeOrigin,
  hangUpSignal,
  invalidRequest,
  isUuid,
  readWait,
  refuseQuery,
  waitSeconds,
} from './request.ts'
import type { ApiRequest, Handler } from './request.ts'

export function readSubmissionResult(context: HttpContext): Handler {
  const { database, syncWaitSeconds } = context

  return async (request, response) => {
    const { wait, issues } = readWait(request)
    if (issues.length > 0) throw invalidRequest(issues)

    const record = await readOwn(request, (id, accountId) =>
      readTrackedResult(database, id, accountId),
    )
    if (!wait || isFinal(record)) {
      sendJson(response, 200, record)
      return
    }
    const hungUp = hangUpSignal(response)
    const seconds = waitSeconds(request, syncWaitSeconds)
    const { accountId } = request.caller
    const end = await waitForEnd(context, record.id, accountId, seconds, hungUp)
    if (hungUp.aborted) return
    if (end === null) throw noSubmission()
    sendJson(response, 200, end)
  }
}

export function cancelResult({ database }: HttpContext): Handler {
  return async (request, response) => {
    refuseQuery(request)
    const record = await readOwn(request, async (id, accountId, signal) => {
      const state = await cancelSubmission(database, id, accountId, describeOrigin(request), signal)
      return state === null ? null : readTrackedResult(database, id, accountId)
    })
    sendJson(response, 200, record)
  }
}

/** What is read of the caller's own submission that the path names. @throws {Problem} 404 for any other. */
export async function readOwn<T>(
  { params, caller }: ApiRequest,
  read: (id: string, accountId: string, signal: AbortSignal) => Promise<T | null>,
): Promise<T> {
  const { id = '' } = params
  const found = isUuid(id)
    ? await withDeadline((signal) => read(id.toLowerCase(), caller.accountId, signal))
    : null
  if (found === null) throw noSubmission()
  return found
}

/** Null: the account has no such submission. */
export async function readRecord(
  database: Database,
  id: string,
  accountId: string,
): Promise<TrackedResult | null> {
  return withDeadline(() => readTrackedResult(database, id, accountId))
}

/** This process is notified of the ends of submissions that are stored. */
export async function awaitStored(
  { database, waiter }: HttpContext,
  ids: readonly string[],
): Promise<void> {
  await withDeadline(
    async () => database`select runledger.await_submissions(${ids}::uuid[], ${waiter.channel})`,
  )
}

/** Resolves with the record at the end of a submission that is stored, or as it is when the time is up or nobody waits. */
export async function waitForEnd(
  context: HttpContext,
  id: string,
  accountId: string,
  seconds: number,
  hungUp: AbortSignal,
): Promise<TrackedResult | null> {
  const { database, waiter } = context
  const end = waiter.wait(id, seconds, hungUp)
  await awaitStored(context, [id])
  const now = await readRecord(database, id, accountId)
  if (now === null || isFinal(now)) return now
  return (await end).record ?? readRecord(database, id, accountId)
}
