// POST /api/submit/batch: several submissions in one transaction. A bad item is refused in its place and does not stop
// the others.
import * as v from 'valibot'
import { receiveBatch } from '#enqueue'
import type { BatchItem } from '#enqueue'
import { blame } from '#error'
import { fields, shorten, validate } from '#options'
import { sendJson } from './answer.ts'
import { readJson } from './body.ts'
import { withDeadline } from './deadline.ts'
import type { HttpDependencies } from './http.ts'
import { listOnce, lists } from './offered.ts'
import { describeRefusal } from './refusal.ts'
import { invalidRequest, readIdempotencyKey, readQuery } from './request.ts'
import type { Handler } from './request.ts'
import type { SubmissionParser } from './submission.ts'

export const batchLimit = 20

/** @param item anything, as a bad one is refused in its place; what it should be, where a batch is described. */
// eslint-disable-next-line typescript/explicit-module-boundary-types -- the type is the schema, told twice it would drift
export const createBatchSchema = <const Item extends v.GenericSchema>(item: Item, most: number) =>
  fields(
    {
      submissions: v.pipe(
        v.array(item, 'must be an array'),
        v.check(
          ({ length }) => length >= 1 && length <= most,
          `must hold 1 to ${most} submissions`,
        ),
        v.metadata({
          description: 'A bad one is refused by itself, and does not stop the others.',
          minItems: 1,
          maxItems: most,
        }),
      ),
    },
    'a batch',
    'must be a JSON object',
  )

type Parsed = Awaited<ReturnType<SubmissionParser>>

/** Of the bad ones the first that asks for no language of ours says what is offered. */
function toItems(parsed: readonly Parsed[]): readonly BatchItem[] {
  let isListed = false
  return parsed.map(({ value, issues: found }) => {
    if (value !== null) return { submission: value }
    const issues = listOnce(found, isListed)
    isListed ||= lists(found)
    const { code, message } = invalidRequest(issues)
    return { submission: null, refusal: { error: code, message, ...blame(code), issues } }
  })
}

export function submitBatch(
  { database, queueCapacity }: Pick<HttpDependencies, 'database' | 'queueCapacity'>,
  parseSubmission: SubmissionParser,
): Handler {
  // More than the queue holds would be refused for ever.
  const schema = createBatchSchema(v.unknown(), Math.min(batchLimit, queueCapacity))

  return async (request, response) => {
    const { issues: queryIssues } = readQuery(request, [])
    const { idempotencyKey, issues: keyIssues } = readIdempotencyKey(request)
    const body = await readJson(request, response)
    const batch = body.issues.length === 0 ? validate(schema, body.json) : { ...body, value: null }
    const issues = [...queryIssues, ...keyIssues, ...shorten(batch.issues)]
    if (batch.value === null || issues.length > 0) throw invalidRequest(issues)

    const { apiKeyId, accountId } = request.caller
    const context = {
      apiKeyId,
      accountId,
      requestId: request.requestId,
      waiter: null,
      durable: true,
      idempotencyKey,
      capacity: queueCapacity,
    }
    const parsed = batch.value.submissions.map((input) => parseSubmission(input, request.caller))
    const items = toItems(await Promise.all(parsed))
    const reception = await withDeadline((signal) => receiveBatch(database, items, context, signal))
    if (reception.kind !== 'received' && reception.kind !== 'replayed') {
      const places = items.filter(({ submission }) => submission !== null).length
      throw await describeRefusal(database, reception, places)
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
