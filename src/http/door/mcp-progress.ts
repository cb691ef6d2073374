// How a call of the MCP door goes on: the answer becomes a stream of notifications when its client gives a token for them,
// one when the run is stored (with its id), starts, and has ended a test.
import type { Response } from 'polka'
import { beginning } from '#result'
import { boundRest, sendJson } from '../answer.ts'
import type { HttpContext } from '../http.ts'
import type { ApiRequest } from '../request.ts'
import { asksForStream } from '../stream.ts'
import type { Message } from './mcp-message.ts'

/** The last message of an answer, or all of it. */
export function sendMessage(response: Response, status: number, message: object): void {
  if (response.destroyed) return
  if (!response.headersSent) {
    sendJson(response, status, message)
    return
  }
  const bytes = Buffer.from(formatMessage(message))
  boundRest(response, bytes)
  response.end(bytes)
}

/** @returns to be called with the id of the submission, once it is stored. */
type FollowProgress = (
  message: Message,
  request: ApiRequest,
  response: Response,
) => (id: string) => void

export function createProgress({ resultStreams }: HttpContext): FollowProgress {
  return ({ meta }, request, response) => {
    const token = meta['progressToken']
    const isToken = typeof token === 'string' || typeof token === 'number'
    if (!isToken || !asksForStream(request)) return () => {}
    resultStreams.admit(request, response)
    let progress = 0
    const notify = (text: string): string => {
      const params = { progressToken: token, progress, message: text }
      progress += 1
      return formatMessage({ jsonrpc: '2.0', method: 'notifications/progress', params })
    }
    const retell = (texts: readonly string[]): Buffer => Buffer.from(texts.map(notify).join(''))
    return (id) => {
      if (response.destroyed) return
      const retelling = {
        greeting: retell([`submission ${id}`]),
        retell: (events: Buffer) => retell(describeEvents(events.toString())),
      }
      resultStreams.begin(request, response, id, beginning, { retelling })
    }
  }
}

function formatMessage(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}

/** Of the events of a stream those that say how far it is. */
function describeEvents(text: string): string[] {
  const events = text.matchAll(/^event: (status|test)\ndata: (.*)$/gm)
  return Array.from(events, ([, event, data = '']) => {
    const known = JSON.parse(data) as { status?: string; index?: number; verdict?: string }
    return event === 'status'
      ? `${known.status}`
      : `test ${(known.index ?? 0) + 1}: ${known.verdict}`
  })
}
