// GET /api/result/{id}/request: the submitted request, in a form that can be submitted again.
import { isUtf8 } from 'node:buffer'
import { decodeOptions } from '#options'
import { readRequest } from '#result'
import type { ReceivedRequest } from '#result'
import { sendJson } from './answer.ts'
import type { HttpContext } from './http.ts'
import { purged } from './problem.ts'
import { readOwn } from './read.ts'
import { refuseQuery } from './request.ts'
import type { Handler } from './request.ts'

export function describeRequest({ database }: HttpContext): Handler {
  return async (request, response) => {
    refuseQuery(request)
    const received = await readOwn(request, (id, accountId) => readRequest(database, id, accountId))
    if (received === 'purged') throw purged()
    const { id = '' } = request.params
    const { limits } = received
    sendJson(response, 200, { id: id.toLowerCase(), request: describe(received), limits })
  }
}

/** Returns the request by its API field names, without the webhook, because its secret is never returned. */
function describe(received: ReceivedRequest): object {
  const { language, code, stdin, expectedStdout, detail, outputEncoding, priority, tag } = received
  return {
    language,
    code: Buffer.from(code).toString(),
    ...(stdin.byteLength > 0 && describeInput(stdin)),
    ...(expectedStdout !== null && { expected_stdout: Buffer.from(expectedStdout).toString() }),
    ...decodeOptions(detail),
    ...(outputEncoding !== null && { output_encoding: outputEncoding }),
    ...(priority !== null && { priority }),
    ...(tag !== null && { tag }),
  }
}

/** Returns the input as text if it is UTF-8, otherwise as base64, whichever encoding the request had. */
function describeInput(stdin: Uint8Array): object {
  const bytes = Buffer.from(stdin)
  return isUtf8(bytes)
    ? { stdin: bytes.toString() }
    : { stdin: bytes.toString('base64'), stdin_encoding: 'base64' }
}
