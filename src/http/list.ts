// GET /api/submissions: the account's submissions, newest first, page by page. GET /api/results?ids=…: the records of several
// submissions, as one request against the rate limit.
import * as v from 'valibot'
import { verdicts } from '#event'
import { isUuid } from '#id'
import { languageSchema, tagSchema } from '#options'
import { listResults, readPreviews, readResults, resultStatuses } from '#result'
import type { Preview } from '#result'
import { described, timeText } from '#schema'
import { sendJson } from './answer.ts'
import type { HttpContext } from './http.ts'
import { noSubmission, withDeadline } from './problem.ts'
import { listIds, readParameters } from './request.ts'
import type { Handler } from './request.ts'

const limitMessage = 'must be a whole number from 1 to 100'

/** The query parameters; each is optional. */
export const listParameters = {
  limit: v.pipe(
    v.string(),
    v.check((text) => /^\d{1,3}$/.test(text), limitMessage),
    v.transform(Number),
    v.integer(),
    v.minValue(1, limitMessage),
    v.maxValue(100, limitMessage),
  ),
  cursor: v.pipe(
    v.string(),
    v.regex(/^[\w-]{22}$/, 'is not a cursor of this service'),
    v.transform(decodeCursor),
    v.check(isUuid, 'is not a cursor of this service'),
  ),
  status: v.picklist(resultStatuses, `must be one of ${resultStatuses.join(', ')}`),
  verdict: v.picklist(verdicts, `must be one of ${verdicts.join(', ')}`),
  language: languageSchema,
  tag: tagSchema,
  since: described(timeText, 'Only submissions received at this time or later.'),
  until: described(timeText, 'Only submissions received before this time.'),
  preview: described(
    v.picklist(['true', 'false'], 'must be true or false'),
    'true: the answer also has each program’s first line, and whether an output was expected.',
  ),
} as const

const purged: Preview = { preview: null, judged: null }
const querySchema = v.partial(v.object(listParameters))

export function listSubmissions({ database }: HttpContext): Handler {
  return async (request, response) => {
    const { limit = 50, cursor, preview, ...filter } = readParameters(request, querySchema)
    const page = { ...filter, before: cursor, limit }
    const { accountId } = request.caller
    const { results, next, previews } = await withDeadline(async () => {
      const found = await listResults(database, accountId, page)
      const ids = found.results.map(({ id }) => id)
      return { ...found, previews: preview === 'true' ? await readPreviews(database, ids) : null }
    })
    sendJson(response, 200, {
      submissions:
        previews === null
          ? results
          : results.map((one) => ({ ...one, ...(previews.get(one.id) ?? purged) })),
      next_cursor: next === null ? null : encodeCursor(next),
    })
  }
}

// The id is encoded so that clients do not build cursors themselves.
function encodeCursor(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')
}

function decodeCursor(cursor: string): string {
  const hex = Buffer.from(cursor, 'base64url').toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

const idsMost = 100

const idsSchema = v.object({
  ids: v.pipe(
    v.string('is required'),
    v.transform((text) => text.split(',')),
    v.check((ids) => ids.length <= idsMost, `must hold at most ${idsMost} ids`),
    v.check((ids) => ids.every((id) => id !== ''), 'must be ids, with commas between them'),
  ),
})

export function readManyResults({ database }: HttpContext): Handler {
  return async (request, response) => {
    const { ids } = readParameters(request, idsSchema)
    const { accountId } = request.caller
    const found = await withDeadline(() => readResults(database, listIds(ids), accountId))
    const { code: error, message } = noSubmission()
    const results = ids.map((id) => {
      const record = found.get(id.toLowerCase())
      if (record === undefined) return { id, error, message }
      return record ?? { id, error: 'too_large', message: tooLarge }
    })
    sendJson(response, 200, { results })
  }
}

const tooLarge =
  'With this result the outputs of the answer would be too large: read the result by itself.'
