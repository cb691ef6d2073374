// How a call of the MCP door goes on: the answer becomes a stream of notifications when its client gives a token for them,
// one when the run is stored (with its id), starts, and has ended a test.
import type { Response } from 'polka'
import { beginning } from '#result'
import { boundRest, sendJson } from '../answer.ts'
import type { HttpContext } from '../http.ts'
import type { ApiRequest } from '../request.ts'
import { asksForStream, streamHeaders } from '../stream.ts'
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

export function createProgress({ streams, resultStreams }: HttpContext): FollowProgress {
  return ({ meta }, request, response) => {
    const token = meta['progressToken']
    const isToken = typeof token === 'string' || typeof token === 'number'
    if (!isToken || !asksForStream(request)) return () => {}
    resultStreams.admit(request, response)
    return (id) => {
      if (response.destroyed) return
      request.isStream = true
      response.writeHead(200, streamHeaders)
      const write = (text: string): void => {
        if (!response.writableEnded) response.write(text)
      }
      let progress = 0
      const notify = (text: string): void => {
        const params = { progressToken: token, progress, message: text }
        progress += 1
        write(formatMessage({ jsonrpc: '2.0', method: 'notifications/progress', params }))
      }
      notify(`submission ${id}`)
      const { leave, noteReady } = streams.follow(id, beginning, {
        get isReady() {
          return !response.writableNeedDrain
        },
        give: (bytes) => describeEvents(bytes.toString()).forEach(notify),
        // The record is read by who waits for it.
        end: () => {},
      })
      const comments = setInterval(write, resultStreams.bounds.commentMilliseconds, ':\n\n')
      response.on('drain', noteReady)
      response.once('finish', leave)
      response.once('close', () => {
        clearInterval(comments)
        leave()
      })
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
