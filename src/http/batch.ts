// POST /api/submit/batch: several submissions in one transaction. A bad item is refused in its place and does not stop
// the others.
import type { Caller } from '#account'
import { receiveBatch } from '#enqueue'
import type { BatchItem } from '#enqueue'
import type { Issue } from '#error'
import { sendJson } from './answer.ts'
import { readJson } from './body.ts'
import { withDeadline } from './deadline.ts'
import type { HttpDependencies } from './http.ts'
import { queueFull } from './queue-full.ts'
import { invalidRequest, readIdempotencyKey, readQuery } from './request.ts'
import type { Handler } from './request.ts'
import type { SubmissionParser } from './submission.ts'

export const batchLimit = 20

export function submitBatch(
  { database, queueCapacity }: Pick<HttpDependencies, 'database' | 'queueCapacity'>,
  parseSubmission: SubmissionParser,
): Handler {
  // More than the queue holds would be refused for ever.
  const most = Math.min(batchLimit, queueCapacity)

  const toItem = async (input: unknown, caller: Caller): Promise<BatchItem> => {
    const { value, issues } = await parseSubmission(input, caller)
    if (value !== null) return { submission: value }
    const { code, message } = invalidRequest(issues)
    return { submission: null, refusal: { error: code, message, issues } }
  }

  return async (request, response) => {
    const { issues: queryIssues } = readQuery(request, [])
    const { idempotencyKey, issues: keyIssues } = readIdempotencyKey(request)
    const body = await readJson(request, response)
    const { inputs, issues: bodyIssues } =
      body.issues.length === 0 ? readBatch(body.json, most) : { inputs: [], issues: body.issues }
    const issues = [...queryIssues, ...keyIssues, ...bodyIssues]
    if (issues.length > 0) throw invalidRequest(issues)

    const { apiKeyId, accountId } = request.caller
    const context = {
      apiKeyId,
      accountId,
      requestId: request.requestId,
      toldTo: null,
      idempotencyKey,
      capacity: queueCapacity,
    }
    const items = await Promise.all(inputs.map((input) => toItem(input, request.caller)))
    const reception = await withDeadline((signal) => receiveBatch(database, items, context, signal))
    if (reception.kind === 'queue_full') {
      throw await queueFull(database, items.filter(({ submission }) => submission !== null).length)
    }
    sendJson(
      response,
      202,
      { submissions: reception.answer },
      reception.kind === 'received'
        ? {}
        : {
            'Idempotency-Replayed': 'true',
            ...(!reception.matches && { 'Idempotency-Mismatch': 'true' }),
          },
    )
  }
}

function readBatch(
  body: unknown,
  most: number,
): {
  readonly inputs: readonly unknown[]
  readonly issues: readonly Issue[]
} {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { inputs: [], issues: [{ path: '', message: 'must be a JSON object' }] }
  }
  const unknown = Object.keys(body).filter((key) => key !== 'submissions')
  const issues: Issue[] = unknown.slice(0, 50).map((key) => ({
    path: key.slice(0, 100).toWellFormed(),
    message: 'is not a field of a batch',
  }))
  const { submissions } = body as { submissions?: unknown }
  if (!Array.isArray(submissions)) {
    const message = submissions === undefined ? 'is required' : 'must be an array'
    return { inputs: [], issues: [...issues, { path: 'submissions', message }] }
  }
  if (submissions.length < 1 || submissions.length > most) {
    issues.push({ path: 'submissions', message: `must hold 1 to ${most} submissions` })
  }
  return { inputs: submissions, issues }
}
