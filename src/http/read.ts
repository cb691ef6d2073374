// GET /api/result/{id}: the present record, or with wait=true the record as soon as it is final. GET /api/result/{id}/request:
// the submitted request, in a form that can be submitted again. POST /api/result/{id}/cancel cancels the submission and answers
// with the present record; a running submission ends a moment later.
import { isUtf8 } from 'node:buffer'
import type { Database } from '#database'
import { cancelSubmission } from '#enqueue'
import { isUuid } from '#id'
import { decodeOptions } from '#options'
import { isFinal, readRequest, readTrackedResult } from '#result'
import type { ReceivedRequest, TrackedResult } from '#result'
import { sendJson } from './answer.ts'
import type { HttpContext } from './http.ts'
import { noSubmission, purged, withDeadline } from './problem.ts'
import { describeOrigin, hangUpSignal, invalidRequest, readWait, refuseQuery } from './request.ts'
import type { ApiRequest, Handler } from './request.ts'

export function readSubmissionResult(context: HttpContext): Handler {
  const { database, syncWaitSeconds } = context

  return async (request, response) => {
    const { wait, seconds, issues } = readWait(request, syncWaitSeconds)
    if (issues.length > 0) throw invalidRequest(issues)

    const record = await readOwn(request, (id, accountId) =>
      readTrackedResult(database, id, accountId),
    )
    if (!wait || isFinal(record)) {
      sendJson(response, 200, record)
      return
    }
    const hungUp = hangUpSignal(response)
    const { accountId } = request.caller
    const end = await waitForEnd(context, record.id, accountId, seconds, hungUp)
    if (hungUp.aborted) return
    if (end === null) throw noSubmission()
    sendJson(response, 200, end)
  }
}

export function describeRequest({ database }: HttpContext): Handler {
  return async (request, response) => {
    refuseQuery(request)
    const received = await readOwn(request, (id, accountId) => readRequest(database, id, accountId))
    if (received === 'purged') throw purged()
    const { id = '' } = request.params
    const { limits } = received
    sendJson(response, 200, { id: id.toLowerCase(), request: describe(received), limits })
  }
}

/** Returns the request by its API field names, without the webhook, because its secret is never returned. */
function describe(received: ReceivedRequest): object {
  const { language, code, stdin, expectedStdout, detail, outputEncoding, priority, tag } = received
  return {
    language,
    code: Buffer.from(code).toString(),
    ...(stdin.byteLength > 0 && describeInput(stdin)),
    ...(expectedStdout !== null && { expected_stdout: Buffer.from(expectedStdout).toString() }),
    ...decodeOptions(detail),
    ...(outputEncoding !== null && { output_encoding: outputEncoding }),
    ...(priority !== null && { priority }),
    ...(tag !== null && { tag }),
  }
}

/** Returns the input as text if it is UTF-8, otherwise as base64, whichever encoding the request had. */
function describeInput(stdin: Uint8Array): object {
  const bytes = Buffer.from(stdin)
  return isUtf8(bytes)
    ? { stdin: bytes.toString() }
    : { stdin: bytes.toString('base64'), stdin_encoding: 'base64' }
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

/** Reads something of the submission in the path. @throws {Problem} 404 unless it belongs to the caller's account. */
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

/** Reads a record; null when the account has no such submission. */
export async function readRecord(
  database: Database,
  id: string,
  accountId: string,
): Promise<TrackedResult | null> {
  return withDeadline(() => readTrackedResult(database, id, accountId))
}

/** Registers this process for notifications of the ends of stored submissions. */
export async function awaitStored(
  { database, waiter }: HttpContext,
  ids: readonly string[],
): Promise<void> {
  await withDeadline(
    async () => database`select runledger.await_submissions(${ids}::uuid[], ${waiter.channel})`,
  )
}

/**
 * Waits for the end of a stored submission. Resolves with the final record, or with the present record when the time is up or
 * the caller has hung up.
 */
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
  return (await end) ?? readRecord(database, id, accountId)
}
