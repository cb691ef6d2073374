// POST /api/submit: parse, receive (job/receive.ts), answer at once, at the end, or by a stream.
import type { Response } from 'polka'
import { flushLog, receiveSubmission } from '#enqueue'
import type { Reception, Submission } from '#enqueue'
import { Problem } from '#error'
import { createId } from '#id'
import { beginning, isFinal, readTrackedResult } from '#result'
import type { TrackedResult } from '#result'
import { sendJson } from './answer.ts'
import { readJson } from './body.ts'
import { withDeadline } from './deadline.ts'
import type { HttpDependencies } from './http.ts'
import { unavailable } from './problem.ts'
import { queueFull } from './queue-full.ts'
import {
  hangUpSignal,
  invalidRequest,
  readIdempotencyKey,
  readQuery,
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

interface ParsedRequest {
  readonly request: ApiRequest
  readonly submission: Submission
  readonly idempotencyKey: string | null
  readonly waits: boolean
  /** The answer is to be a stream. */
  readonly streams: boolean
  /** At most. */
  readonly seconds: number
  /** Fires when nobody is there to be answered. */
  readonly hungUp: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

function createParser(
  { syncWaitSeconds }: HttpDependencies,
  parseSubmission: SubmissionParser,
): (request: ApiRequest, response: Parameters<Handler>[1]) => Promise<ParsedRequest> {
  return async (request, response) => {
    const { query, issues: queryIssues } = readQuery(request, ['wait'])
    const { wait, issues: waitIssues } = readWait(query)
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
    const issues = [
      ...queryIssues,
      ...waitIssues,
      ...keyIssues,
      ...streamIssues,
      ...submission.issues,
    ]
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

/** Stores it, or finds its idempotency key's earlier one. @throws {Problem} queue_full. */
async function receive(
  { database, queueCapacity }: HttpDependencies,
  { request, submission, idempotencyKey }: ParsedRequest,
  id: string,
  toldTo: string | null,
): Promise<Stored> {
  const { apiKeyId, accountId } = request.caller
  const context = {
    apiKeyId,
    accountId,
    requestId: request.requestId,
    toldTo,
    idempotencyKey,
    capacity: queueCapacity,
  }
  const reception = await withDeadline((signal) =>
    receiveSubmission(database, id, submission, context, signal),
  )
  if (reception.kind === 'queue_full') throw await queueFull(database)
  return reception
}

async function submitOnly(dependencies: HttpDependencies, parsed: ParsedRequest): Promise<Answer> {
  const reception = await receive(dependencies, parsed, createId(), null)
  const { id } = reception
  if (reception.kind === 'received') return { status: 202, body: { id }, headers: locate(id) }
  const record = await readRecord(dependencies, parsed, id)
  if (record === null) throw new Error(`submission ${id} has no result`)
  return describeReplay(reception, record)
}

async function submitAndWait(
  dependencies: HttpDependencies,
  parsed: ParsedRequest,
): Promise<Answer> {
  const { waiter, database } = dependencies
  const { seconds, hungUp } = parsed
  const id = createId()
  // Before it is stored, as the end may be notified before this process knows of the storing.
  const waited = waiter.wait(id, seconds, hungUp)
  const reception = await receive(dependencies, parsed, id, waiter.channel).catch(
    (error: unknown) => {
      waiter.forget(id)
      throw error
    },
  )
  let told: TrackedResult | undefined
  if (reception.kind === 'received') {
    told = (await waited)?.record
  } else {
    waiter.forget(id)
    await waitForEarlier(dependencies, parsed, reception.id)
  }
  // Not sent: nobody is there.
  if (hungUp.aborted) return { status: 202, body: {} }
  const record = told ?? (await readRecord(dependencies, parsed, reception.id))
  if (record === null) throw unavailable() // the database restarted and lost what was not on disk
  if (!isFinal(record)) {
    // The commit was not waited for, but the 408 tells the id.
    await withDeadline(() => flushLog(database))
    throw new Problem(
      'timeout',
      'The submission is not finished yet. It goes on: ask for its result.',
      { id: reception.id, headers: locate(reception.id) },
    )
  }
  return reception.kind === 'received'
    ? { status: 200, body: record }
    : describeReplay(reception, record)
}

async function submitAndStream(
  dependencies: HttpDependencies,
  parsed: ParsedRequest,
  resultStreams: ResultStreams,
  response: Response,
): Promise<void> {
  const { database, streams } = dependencies
  resultStreams.admit(parsed.request, response)
  const id = createId()
  const reception = await receive(dependencies, parsed, id, streams.channel)
  // The commit was not waited for, but the first event tells the id.
  await withDeadline(() => flushLog(database))
  if (parsed.hungUp.aborted) return
  const headers = reception.kind === 'received' ? locate(id) : describeReplayed(reception)
  resultStreams.begin(parsed.request, response, reception.id, beginning, headers)
}

async function waitForEarlier(
  dependencies: HttpDependencies,
  parsed: ParsedRequest,
  id: string,
): Promise<void> {
  const end = dependencies.waiter.wait(id, parsed.seconds, parsed.hungUp)
  const now = await readRecord(dependencies, parsed, id)
  if (now === null || !isFinal(now)) await end
}

function readRecord(
  { database }: HttpDependencies,
  { request }: ParsedRequest,
  id: string,
): Promise<TrackedResult | null> {
  return withDeadline(() => readTrackedResult(database, id, request.caller.accountId))
}

/** Of an idempotency key that was used before: the record as it stands. */
export function describeReplay(replay: Replay, record: TrackedResult): Answer {
  return { status: 202, body: record, headers: describeReplayed(replay) }
}

function describeReplayed({ id, matches }: Replay): Readonly<Record<string, string>> {
  return {
    ...locate(id),
    'Idempotency-Replayed': 'true',
    ...(!matches && { 'Idempotency-Mismatch': 'true' }),
  }
}

export function locate(id: string): Readonly<Record<string, string>> {
  return { Location: `/api/result/${id}` }
}

type Stored = Extract<Reception, { kind: 'received' | 'replayed' }>
type Replay = Extract<Reception, { kind: 'replayed' }>
