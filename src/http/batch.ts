// POST /api/submit/batch: receives several submissions in one transaction, and answers at once, or with a line for each as it
// ends. A bad item is refused at its position and does not stop the others.
import { setImmediate } from 'node:timers/promises'
import type { Response } from 'polka'
import * as v from 'valibot'
import type { Caller } from '#account'
import type { BatchItem } from '#enqueue'
import { createId } from '#id'
import { fields, validate } from '#options'
import { sendJson } from './answer.ts'
import { storeStreamed } from './batch-stream.ts'
import type { ParsedBatch } from './batch-stream.ts'
import { bodyLimitBytes, readJson } from './body.ts'
import type { HttpContext } from './http.ts'
import { createListOnce } from './offered.ts'
import { describeProblem } from './problem.ts'
import { receiveItems } from './receive.ts'
import { invalidRequest, readIdempotencyKey, readQuery } from './request.ts'
import type { ApiRequest, Handler } from './request.ts'
import { asksForStream } from './stream.ts'
import { parseSubmission } from './submission.ts'
import { describeReplay } from './submit.ts'
import { judgeWebhook, webhookEntries } from './webhook.ts'

/** The most items of a batch in any tier. */
export const batchLimit = 1000

/** The size limit of a batch is this, times the items that its tier allows, and at least that of other bodies. */
const bytesPerItem = (16 * 1024 * 1024) / batchLimit

/**
 * @param item accepts anything when a batch is read, because a bad item is refused by itself; the submission's schema when a
 *   batch is described.
 */
export const createBatchSchema = <const Item extends v.GenericSchema>(
  item: Item,
  most: number,
  // eslint-disable-next-line typescript/explicit-module-boundary-types -- the type is the schema, a second copy would drift
) =>
  fields(
    {
      submissions: v.pipe(
        v.array(item, 'must be an array'),
        v.check(
          ({ length }) => length >= 1 && length <= most,
          `must hold 1 to ${most} submissions`,
        ),
        v.metadata({
          description:
            "As many submissions as the key's tier allows: 20 for beta. An invalid submission is refused by itself and does not stop the others.",
          minItems: 1,
          maxItems: most,
        }),
      ),
      ...webhookEntries,
    },
    'a batch',
    'must be a JSON object',
  )

export function submitBatch(context: HttpContext): Handler {
  /** Stores a batch, which has megabytes, so the function that answers does not keep it. @returns the function that answers. */
  async function store(request: ApiRequest, response: Response): Promise<() => Promise<void>> {
    const batch = await parseBatch(context, request, response)
    if (batch.isStreamed) {
      context.resultStreams.admit(request, response)
      return storeStreamed(context, request, response, batch)
    }
    const received = await receiveItems(context, request, batch)
    return async () => sendJson(response, 202, received.answer, describeReplay(received))
  }

  return async (request, response) => {
    const answer = await store(request, response)
    await answer()
  }
}

/** Reads a batch. @throws {Problem} with every issue of the batch itself. */
async function parseBatch(
  context: HttpContext,
  request: ApiRequest,
  response: Response,
): Promise<ParsedBatch> {
  const { caller } = request
  const isStreamed = asksForStream(request, 'application/x-ndjson')
  const { query, issues: queryIssues } = readQuery(request, isStreamed ? ['have'] : [])
  const { have, issues: haveIssues } = readHave(query.get('have'))
  const { idempotencyKey, issues: keyIssues } = readIdempotencyKey(request)
  const bytesMost = Math.max(bodyLimitBytes, Math.floor(caller.batchItems * bytesPerItem))
  const body = await readJson(request, response, bytesMost)
  // A batch larger than the queue could never be received.
  const schema = createBatchSchema(v.unknown(), Math.min(caller.batchItems, context.queueCapacity))
  const batch =
    body.issues.length === 0 ? validate(schema, body.json) : { ...body, value: null, sound: {} }
  const own = Object(body.json) as object
  const webhookIssues = judgeWebhook(batch.sound.webhook_url, context.webhookRules, (name) =>
    Object.hasOwn(own, name),
  )
  const issues = [...queryIssues, ...haveIssues, ...keyIssues, ...batch.issues, ...webhookIssues]
  if (batch.value === null || issues.length > 0) throw invalidRequest(issues)
  const items = await parseItems(context, batch.value.submissions, caller)
  const { webhook_url: url, webhook_secret: secret } = batch.value
  const webhook = url === undefined || secret === undefined ? null : { url, secret }
  return { items, idempotencyKey, webhook, isStreamed, have }
}

/** Reads `have`, a list such as `0-4,9`. */
function readHave(text = ''): Pick<ParsedBatch, 'have'> & {
  readonly issues: readonly { path: string; message: string }[]
} {
  const have = new Set<number>()
  if (text === '') return { have, issues: [] }
  for (const range of text.split(',')) {
    const [, first = '', last = first] = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(range) ?? []
    if (first === '' || Number(last) < Number(first))
      return { have, issues: [{ path: '?have', message: 'must be a list such as 0-4,9' }] }
    for (let n = Number(first); n <= Number(last); n += 1) have.add(n)
  }
  return { have, issues: [] }
}

/** How many items are parsed before other requests are handled. */
const atOnce = 50

/** Parses the items. Only the first issue about a language that is not offered lists the offered languages. */
async function parseItems(
  context: HttpContext,
  inputs: readonly unknown[],
  caller: Caller,
): Promise<readonly BatchItem[]> {
  const items: BatchItem[] = []
  const listOnce = createListOnce()
  for (let n = 0; n < inputs.length; n += atOnce) {
    if (n > 0) await setImmediate()
    const some = inputs.slice(n, n + atOnce)
    const parsed = await Promise.all(some.map((input) => parseSubmission(context, input, caller)))
    for (const { value, issues } of parsed) {
      const id = createId()
      if (value === null) {
        const refusal = describeProblem(invalidRequest(listOnce(issues)))
        items.push({ id, submission: null, refusal })
      } else items.push({ id, submission: value })
    }
  }
  return items
}
