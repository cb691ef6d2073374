// POST /api/submit: validate, append and enqueue in one transaction, then answer at once or when the end is known.
import { createSubmissionId, flushLog, receiveSubmission } from '#enqueue'
import type { Receipt } from '#enqueue'
import { Problem } from '#error'
import { isFinal, readTrackedResult } from '#result'
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
import { createSubmissionParser } from './submission.ts'

/** Creates the handler. */
export function submit(dependencies: HttpDependencies): Handler {
  const { database, waiter, syncWaitSeconds, queueCapacity } = dependencies
  const parseSubmission = createSubmissionParser(dependencies.webhookAllowedRanges)

  const handle: Handler = async (request, response) => {
    const { query, issues: queryIssues } = readQuery(request, ['wait'])
    const { wait, issues: waitIssues } = readWait(query)
    const { idempotencyKey, issues: keyIssues } = readIdempotencyKey(request)
    const { json, issues: bodyIssues } = await readJson(request, response)
    const submission =
      bodyIssues.length === 0 ? parseSubmission(json) : { value: null, issues: bodyIssues }
    const issues = [...queryIssues, ...waitIssues, ...keyIssues, ...submission.issues]
    if (submission.value === null || issues.length > 0) throw invalidRequest(issues)

    const id = createSubmissionId()
    const hungUp = hangUpSignal(response)
    const seconds = waitSeconds(request, syncWaitSeconds)
    // Before it is stored: its end may be notified before this process learns that it was stored.
    const settled = new AbortController()
    const waited = wait ? waiter.wait(id, seconds, AbortSignal.any([hungUp, settled.signal])) : null
    const { value } = submission
    const receive = (checksKey: boolean): Promise<Receipt> =>
      withDeadline((signal) =>
        receiveSubmission(
          database,
          id,
          value,
          {
            apiKeyId: request.caller.apiKeyId,
            accountId: request.caller.accountId,
            requestId: request.requestId,
            toldTo: wait ? waiter.channel : null,
            idempotencyKey,
            capacity: queueCapacity,
            checksKey,
          },
          signal,
        ),
      )
    const receipt = await receiveWithKey(request, receive).catch((error: unknown) => {
      settled.abort()
      throw error
    })
    if (receipt.kind === 'queue_full') {
      settled.abort()
      throw await queueFull(database)
    }
    if (receipt.kind === 'received' && waited === null) {
      sendJson(response, 202, { id }, { Location: `/api/result/${id}` })
      return
    }

    let told: TrackedResult | undefined
    if (receipt.kind === 'received') {
      told = (await waited)?.record
    } else {
      settled.abort()
      if (wait) await waitForEarlier(receipt.id)
    }
    if (hungUp.aborted) return
    const record =
      told ??
      (await withDeadline(() => readTrackedResult(database, receipt.id, request.caller.accountId)))
    if (record === null) {
      if (!wait) throw new Error(`submission ${receipt.id} has no result`)
      throw unavailable() // the database restarted and has lost what was not on disk yet
    }
    if (wait && !isFinal(record)) {
      // From here on its id is known.
      await withDeadline(() => flushLog(database))
      throw new Problem(
        'timeout',
        'The submission is not finished yet. It goes on: ask for its result.',
        {
          id: receipt.id,
          headers: { Location: `/api/result/${receipt.id}` },
        },
      )
    }
    if (receipt.kind === 'received') sendJson(response, 200, record)
    else {
      sendJson(response, 202, record, {
        Location: `/api/result/${receipt.id}`,
        'Idempotency-Replayed': 'true',
        ...(!receipt.matches && { 'Idempotency-Mismatch': 'true' }),
      })
    }

    async function waitForEarlier(earlierId: string): Promise<void> {
      const end = waiter.wait(earlierId, seconds, hungUp)
      const now = await withDeadline(() =>
        readTrackedResult(database, earlierId, request.caller.accountId),
      )
      if (now === null || !isFinal(now)) await end
    }
  }

  return async (request, response, next) => {
    try {
      await handle(request, response, next)
    } catch (error) {
      // Who has no right to an answer does not learn what is wrong with the request.
      if (error instanceof Problem && error.status < 500) await request.confirm?.()
      throw error
    }
  }
}

/** Receives with the check of the key that is still due, if one is. */
async function receiveWithKey(
  request: ApiRequest,
  receive: (checksKey: boolean) => Promise<Receipt>,
): Promise<Exclude<Receipt, { kind: 'key_refused' }>> {
  const { confirm } = request
  const receipt = await receive(confirm !== undefined)
  if (receipt.kind !== 'key_refused') {
    delete request.confirm
    return receipt
  }
  await confirm?.()
  return receiveWithKey(request, receive)
}
