// POST /api/submit: parses a submission, stores it (job/receive.ts), and answers at once, with the result, or by a stream.
import type { Response } from 'polka'
import { flushLog } from '#enqueue'
import type { Replay } from '#enqueue'
import { Problem } from '#error'
import { createId } from '#id'
import { beginning, isFinal } from '#result'
import type { TrackedResult } from '#result'
import { sendJson } from './answer.ts'
import { readJson } from './body.ts'
import type { HttpContext } from './http.ts'
import { unavailable, withDeadline } from './problem.ts'
import { readRecord, waitForEnd } from './read.ts'
import { receive } from './receive.ts'
import type { ParsedSubmission, Stored } from './receive.ts'
import { hangUpSignal, invalidRequest, readIdempotencyKey, readWait } from './request.ts'
import type { ApiRequest, Handler } from './request.ts'
import { asksForStream } from './stream.ts'
import { parseSubmission } from './submission.ts'

export function submit(context: HttpContext): Handler {
  return async (request, response) => {
    const answer = await store(context, request, response)
    await answer()
  }
}

/**
 * Stores the submission of a request. It may have megabytes, so the function that answers, which may wait for minutes, does not
 * keep it.
 * @returns the function that answers.
 */
async function store(
  context: HttpContext,
  request: ApiRequest,
  response: Response,
): Promise<() => Promise<void>> {
  const parsed = await parse(context, request, response)
  if (parsed.streams) return storeAndStream(context, parsed, response)
  if (parsed.waits) {
    const end = await storeAwaited(context, parsed)
    return async () => {
      const ended = await end()
      if (ended !== null) sendStored(response, ended.stored, ended.record)
    }
  }
  const stored = await receive(context, parsed)
  return async () => {
    const { accountId } = request.caller
    const record =
      stored.kind === 'replayed' ? await readRecord(context.database, stored.id, accountId) : null
    sendStored(response, stored, record)
  }
}

/** A submission whose caller may wait for the result. */
interface AwaitedSubmission extends ParsedSubmission {
  /** The longest wait. */
  readonly seconds: number
  /** Fires when the client has hung up. */
  readonly hungUp: AbortSignal
}

async function parse(
  context: HttpContext,
  request: ApiRequest,
  response: Response,
): Promise<AwaitedSubmission & { readonly waits: boolean; readonly streams: boolean }> {
  const { wait: waits, seconds, issues: waitIssues } = readWait(request, context.syncWaitSeconds)
  const { idempotencyKey, issues: keyIssues } = readIdempotencyKey(request)
  const { json, issues: bodyIssues } = await readJson(request, response)
  const { value: submission, issues: found } =
    bodyIssues.length === 0
      ? await parseSubmission(context, json, request.caller)
      : { value: null, issues: bodyIssues }
  const streams = asksForStream(request)
  const streamIssues =
    waits && streams
      ? [{ path: '?wait', message: 'cannot be combined with Accept: text/event-stream' }]
      : []
  const issues = [...waitIssues, ...keyIssues, ...streamIssues, ...found]
  if (submission === null || issues.length > 0) throw invalidRequest(issues)
  const hungUp = hangUpSignal(response)
  return { request, submission, idempotencyKey, waits, streams, seconds, hungUp }
}

/**
 * Stores a submission, or finds the earlier one of its idempotency key.
 * @returns a function that waits for the result: null when the caller has hung up. It does not keep the submission. It throws
 *   {Problem} when the submission did not end in time.
 * @throws {Problem} when it was not stored.
 */
export async function storeAwaited(
  context: HttpContext,
  parsed: AwaitedSubmission,
): Promise<() => Promise<{ readonly stored: Stored; readonly record: TrackedResult } | null>> {
  const { waiter, database } = context
  const { seconds, hungUp } = parsed
  const { accountId } = parsed.request.caller
  const id = createId()
  // The wait starts before the submission is stored, because its end may be notified before this process knows that it is
  // stored.
  const waited = waiter.wait(id, seconds, hungUp)
  const waiting = { waiter: waiter.channel, durable: false }
  const stored = await receive(context, parsed, waiting, id).catch((error: unknown) => {
    waiter.forget(id)
    throw error
  })
  if (stored.kind === 'replayed') waiter.forget(id)
  return async () => {
    let record =
      stored.kind === 'received'
        ? await waited
        : await waitForEnd(context, stored.id, accountId, seconds, hungUp)
    if (hungUp.aborted) return null
    record ??= await readRecord(database, stored.id, accountId)
    return { stored, record: await requireFinal(context, stored.id, record) }
  }
}

/** Returns the record that a wait has ended with. @throws {Problem} 408 with the id when the submission has not ended. */
export async function requireFinal(
  { database }: HttpContext,
  id: string,
  record: TrackedResult | null,
): Promise<TrackedResult> {
  if (record === null) throw unavailable() // the database restarted and lost what was not on disk
  if (isFinal(record)) return record
  // The 408 carries the id, so the submission must be on disk; it may have been received without `durable`.
  await withDeadline(() => flushLog(database))
  throw new Problem(
    'timeout',
    'The submission is not finished yet and goes on: read its result later.',
    { id, headers: locate(id) },
  )
}

async function storeAndStream(
  context: HttpContext,
  parsed: AwaitedSubmission,
  response: Response,
): Promise<() => Promise<void>> {
  const { streams, resultStreams } = context
  const { request, hungUp } = parsed
  resultStreams.admit(request, response)
  const channel = { waiter: streams.channel, durable: true }
  const stored = await receive(context, parsed, channel)
  return async () => {
    if (hungUp.aborted) return
    const headers = { ...locate(stored.id), ...describeReplay(stored) }
    resultStreams.begin(request, response, stored.id, beginning, { headers })
  }
}

/**
 * Answers for a received submission, unless the client has hung up.
 * @param record the final record of a new submission whose caller waited; the present record for a repeated idempotency key.
 */
export function sendStored(response: Response, stored: Stored, record: TrackedResult | null): void {
  if (response.destroyed) return
  const { kind, id } = stored
  if (kind === 'received' && record !== null) {
    sendJson(response, 200, record)
    return
  }
  if (kind === 'replayed' && record === null) throw new Error(`submission ${id} has no result`)
  sendJson(response, 202, record ?? { id }, { ...locate(id), ...describeReplay(stored) })
}

/** Returns headers that say whether the idempotency key was used before. */
export function describeReplay(
  stored: { readonly kind: 'received' } | Pick<Replay, 'kind' | 'matches'>,
): Readonly<Record<string, string>> {
  if (stored.kind === 'received') return {}
  return {
    'Idempotency-Replayed': 'true',
    ...(!stored.matches && { 'Idempotency-Mismatch': 'true' }),
  }
}

function locate(id: string): Readonly<Record<string, string>> {
  return { Location: `/api/result/${id}` }
}
