// GET /api/results?ids=…: the records of several submissions, as one request against the rate limit.
import * as v from 'valibot'
import { readResults } from '#result'
import { sendJson } from './answer.ts'
import { withDeadline } from './deadline.ts'
import type { HttpContext } from './http.ts'
import { noSubmission } from './problem.ts'
import { listIds, readParameters } from './request.ts'
import type { Handler } from './request.ts'

const idsMost = 100

const querySchema = v.object({
  ids: v.pipe(
    v.string('is required'),
    v.transform((text) => text.split(',')),
    v.check((ids) => ids.length <= idsMost, `must hold at most ${idsMost} ids`),
    v.check((ids) => ids.every((id) => id !== ''), 'must be ids, with commas between them'),
  ),
})

export function readManyResults({ database }: HttpContext): Handler {
  return async (request, response) => {
    const { ids } = readParameters(request, querySchema)
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
