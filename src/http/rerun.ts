// POST /api/result/{id}/rerun: runs a submission again on today's toolchain, if the caller could submit it today.
import { isDeepStrictEqual } from 'node:util'
import type { Response } from 'polka'
import type { Caller } from '#account'
import { rerunSubmission } from '#enqueue'
import type { RerunOutcome } from '#enqueue'
import { Problem } from '#error'
import type { Issue } from '#error'
import { readStream } from '#event'
import type { EventData } from '#event'
import { createId } from '#id'
import { defaultLimits } from '#language'
import type { LimitName } from '#options'
import { hasResult } from '#result'
import type { TrackedResult } from '#result'
import { readJson } from './body.ts'
import type { HttpContext } from './http.ts'
import type { OfferedLanguages } from './offered.ts'
import { noSubmission, purged, withDeadline } from './problem.ts'
import { readOwn, readRecord, waitForEnd } from './read.ts'
import { describeRefusal } from './receive.ts'
import type { Stored } from './receive.ts'
import { judgeLimits } from './relations.ts'
import { hangUpSignal, invalidRequest, readIdempotencyKey, readWait } from './request.ts'
import type { ApiRequest, Handler } from './request.ts'
import { requireFinal, sendStored } from './submit.ts'

export function rerunResult(context: HttpContext): Handler {
  const { database, queueCapacity, syncWaitSeconds, offered } = context
  return async (request, response) => {
    const { wait, seconds, issues: waitIssues } = readWait(request, syncWaitSeconds)
    const { idempotencyKey, issues: keyIssues } = readIdempotencyKey(request)
    const issues = [...waitIssues, ...keyIssues, ...(await readNothing(request, response))]
    if (issues.length > 0) throw invalidRequest(issues)

    const { caller, requestId } = request
    const { accountId, apiKeyId } = caller
    const { original, received } = await readOwn(request, async (own) => {
      if (!(await hasResult(database, own, accountId))) return null
      const [first] = await readStream(database, own)
      return first === undefined ? null : { original: own, received: first.data }
    })
    const obstacles = await findObstacles(received as unknown as OriginalRequest, caller, offered)
    if (obstacles.length > 0) throw invalidRequest(obstacles)

    const intake = { apiKeyId, requestId, idempotencyKey, capacity: queueCapacity }
    const outcome = await withDeadline((signal) =>
      rerunSubmission(database, original, createId(), intake, signal),
    )
    const stored = await refuseUnrepeatable(context, outcome)
    const { id, kind } = stored
    let record: TrackedResult | null = null
    if (wait) {
      const hungUp = hangUpSignal(response)
      const end = await waitForEnd(context, id, accountId, seconds, hungUp)
      if (hungUp.aborted) return
      record = await requireFinal(context, id, end)
    } else if (kind === 'replayed') record = await readRecord(database, id, accountId)
    sendStored(response, stored, record)
  }
}

/** The fields of the submission.received event that are checked against today's languages and limits. */
interface OriginalRequest extends Pick<
  EventData['submission.received'],
  'language' | 'checker_language'
> {
  readonly limits?: Readonly<Partial<Record<'run' | 'compile', Partial<Record<LimitName, number>>>>>
}

/** Refuses a body with content, because nothing in it would have an effect. */
async function readNothing(request: ApiRequest, response: Response): Promise<readonly Issue[]> {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && Number(length) === 0) return []
  const { json, issues } = await readJson(request, response)
  if (issues.length > 0) return issues
  if (isDeepStrictEqual(json, {})) return []
  return [{ path: '', message: 'the body must be empty, or {}' }]
}

/** Lists why the original request would not be accepted today. */
async function findObstacles(
  { limits, ...received }: OriginalRequest,
  { limits: allowed }: Caller,
  offered: OfferedLanguages,
): Promise<readonly Issue[]> {
  const { language, checker_language: checkerLanguage } = received
  const issues = await offered.judge({ language, checkerLanguage })
  if (!Object.hasOwn(defaultLimits, language)) return issues
  return [...issues, ...judgeLimits(language, limits?.run, limits?.compile, allowed)]
}

async function refuseUnrepeatable(context: HttpContext, outcome: RerunOutcome): Promise<Stored> {
  switch (outcome.kind) {
    case 'received':
    case 'replayed':
      return outcome
    case 'not_final':
      throw new Problem('not_final', 'The submission has not ended yet: wait for it, or cancel it.')
    case 'purged':
      throw purged()
    case 'not_found':
      throw noSubmission()
    default:
      throw await describeRefusal(context, outcome)
  }
}
