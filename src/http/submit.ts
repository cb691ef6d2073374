// POST /api/submit: parse, receive (job/receive.ts), answer at once, at the end, or by a stream.
import type { Response } from 'polka'
import { flushLog } from '#enqueue'
import type { Replay, Submission } from '#enqueue'
import { Problem } from '#error'
import { createId } from '#id'
import { beginning, isFinal, readTrackedResult } from '#result'
import type { TrackedResult } from '#result'
import { sendJson } from './answer.ts'
import { readJson } from './body.ts'
import { withDeadline } from './deadline.ts'
import type { HttpDependencies } from './http.ts'
import { unavailable } from './problem.ts'
import { waitForEnd } from './read.ts'
import { receive } from './receive.ts'
import type { Stored } from './receive.ts'
import {
  hangUpSignal,
  invalidRequest,
  readIdempotencyKey,
  readWait,
  waitSeconds,
} from './request.ts'
import type { ApiRequest, Handler } from './request.ts'
import { asksForStream } from './stream.ts'
import type { ResultStreams } from './stream.ts'
import type { SubmissionParser } from './submission.ts'

export function submit(
  dependencies: HttpDependencies,
  parseSubmission: SubmissionParser,
  resultStreams: ResultStreams,
): Handler {
  const parse = createParser(dependencies, parseSubmission)
  return async (request, response) => {
    const parsed = await parse(request, response)
    if (parsed.streams) {
      await submitAndStream(dependencies, parsed, resultStreams, response)
      return
    }
    const answer = parsed.waits
      ? await submitAndWait(dependencies, parsed)
      : await submitOnly(dependencies, parsed)
    if (!parsed.hungUp.aborted) sendJson(response, answer.status, answer.body, answer.headers)
  }
}

/** A submission whose end is awaited. */
interface AwaitedSubmission {
  readonly request: ApiRequest
  readonly submission: Submission
  readonly idempotencyKey: string | null
  /** At most. */
  readonly seconds: number
  /** Fires when nobody is there to be answered. */
  readonly hungUp: AbortSignal
}

interface ParsedRequest extends AwaitedSubmission {
  readonly waits: boolean
  /** The answer is to be a stream. */
  readonly streams: boolean
}

interface Answer {
  readonly status: number
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

function createParser(
  { syncWaitSeconds }: HttpDependencies,
  parseSubmission: SubmissionParser,
): (request: ApiRequest, response: Parameters<Handler>[1]) => Promise<ParsedRequest> {
  return async (request, response) => {
    const { wait, issues: waitIssues } = readWait(request)
    const { idempotencyKey, issues: keyIssues } = readIdempotencyKey(request)
    const { json, issues: bodyIssues } = await readJson(request, response)
    const submission =
      bodyIssues.length === 0
        ? await parseSubmission(json, request.caller)
        : { value: null, issues: bodyIssues }
    const streams = asksForStream(request)
    const streamIssues =
      wait && streams
        ? [{ path: '?wait', message: 'cannot be combined with Accept: text/event-stream' }]
        : []
    const issues = [...waitIssues, ...keyIssues, ...streamIssues, ...submission.issues]
    if (submission.value === null || issues.length > 0) throw invalidRequest(issues)
    return {
      request,
      submission: submission.value,
      idempotencyKey,
      waits: wait,
      streams,
      seconds: waitSeconds(request, syncWaitSeconds),
      hungUp: hangUpSignal(response),
    }
  }
}

async function submitOnly(dependencies: HttpDependencies, parsed: ParsedRequest): Promise<Answer> {
  const stored = await receive(dependencies, parsed, createId(), { waiter: null, durable: true })
  const { id } = stored
  if (stored.kind === 'received') return { status: 202, body: { id }, headers: locate(id) }
  const record = await readRecord(dependencies, parsed, id)
  if (record === null) throw new Error(`submission ${id} has no result`)
  return answerReplay(stored, record)
}

async function submitAndWait(
  dependencies: HttpDependencies,
  parsed: ParsedRequest,
): Promise<Answer> {
  const end = await submitToEnd(dependencies, parsed)
  // Not sent: nobody is there.
  if (end === null) return { status: 202, body: {} }
  const { stored, record } = end
  return stored.kind === 'received' ? { status: 200, body: record } : answerReplay(stored, record)
}

/**
 * Stores a submission, or finds its idempotency key's earlier one, and waits for its end.
 * @returns null when the caller has hung up. @throws {Problem} when it was not stored, or has not ended in time.
 */
export async function submitToEnd(
  dependencies: HttpDependencies,
  parsed: AwaitedSubmission,
): Promise<{ readonly stored: Stored; readonly record: TrackedResult } | null> {
  const { waiter, database } = dependencies
  const { seconds, hungUp } = parsed
  const id = createId()
  // Before it is stored, as the end may be notified before this process knows of the storing.
  const waited = waiter.wait(id, seconds, hungUp)
  const waiting = { waiter: waiter.channel, durable: false }
  const stored = await receive(dependencies, parsed, id, waiting).catch((error: unknown) => {
    waiter.forget(id)
    throw error
  })
  let record: TrackedResult | null | undefined
  if (stored.kind === 'received') {
    record = (await waited)?.record
  } else {
    waiter.forget(id)
    const { accountId } = parsed.request.caller
    record = await waitForEnd(dependencies, stored.id, accountId, seconds, hungUp)
  }
  if (hungUp.aborted) return null
  record ??= await readRecord(dependencies, parsed, stored.id)
  if (record === null) throw unavailable() // the database restarted and lost what was not on disk
  if (!isFinal(record)) {
    // It was received without `durable`, but the 408 carries the id.
    await withDeadline(() => flushLog(database))
    throw notFinished(stored.id)
  }
  return { stored, record }
}

/** 408: the wait is over, the submission is not. */
export function notFinished(id: string): Problem {
  return new Problem(
    'timeout',
    'The submission is not finished yet. It goes on: ask for its result.',
    { id, headers: locate(id) },
  )
}

async function submitAndStream(
  dependencies: HttpDependencies,
  parsed: ParsedRequest,
  resultStreams: ResultStreams,
  response: Response,
): Promise<void> {
  const { streams } = dependencies
  resultStreams.admit(parsed.request, response)
  const id = createId()
  const channel = { waiter: streams.channel, durable: true }
  const stored = await receive(dependencies, parsed, id, channel)
  if (parsed.hungUp.aborted) return
  const headers = { ...locate(stored.id), ...describeReplay(stored) }
  resultStreams.begin(parsed.request, response, stored.id, beginning, headers)
}

function readRecord(
  { database }: HttpDependencies,
  { request }: AwaitedSubmission,
  id: string,
): Promise<TrackedResult | null> {
  return withDeadline(() => readTrackedResult(database, id, request.caller.accountId))
}

/** Of an idempotency key that was used before: the record as it is. */
export function answerReplay(replay: Replay, record: TrackedResult): Answer {
  return { status: 202, body: record, headers: { ...locate(replay.id), ...describeReplay(replay) } }
}

/** Headers that say whether an idempotency key was used before. */
export function describeReplay(
  stored: { readonly kind: 'received' } | Pick<Replay, 'kind' | 'matches'>,
): Readonly<Record<string, string>> {
  if (stored.kind === 'received') return {}
  return {
    'Idempotency-Replayed': 'true',
    ...(!stored.matches && { 'Idempotency-Mismatch': 'true' }),
  }
}

export function locate(id: string): Readonly<Record<string, string>> {
  return { Location: `/api/result/${id}` }
}
