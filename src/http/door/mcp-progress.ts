// Progress of an MCP call. When the client sends a progress token, the answer becomes a stream of notifications: one when the
// run is stored (with its id), one when it starts, and one when a test ends. Or the answer is a task, a submission described by
// the extension io.modelcontextprotocol/tasks.
import type { Response } from 'polka'
import { beginning, isFinal } from '#result'
import type { TrackedResult } from '#result'
import { boundRest, sendJson } from '../answer.ts'
import type { ApiRequest } from '../request.ts'
import { asksForStream } from '../stream.ts'
import type { ResultStreams } from '../stream.ts'
import { ProtocolError } from './mcp-message.ts'
import type { Message } from './mcp-message.ts'
import { describeRecord } from './mcp-tools.ts'

/** Sends the last message of a stream, or the whole answer. */
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

/**
 * Prepares the stream of a call whose client asks for progress.
 * @returns a function to call with the submission's id once the submission is stored.
 */
export function followProgress(
  resultStreams: ResultStreams,
  { meta }: Message,
  request: ApiRequest,
  response: Response,
): (id: string) => void {
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
  const describe = (texts: readonly string[]): Buffer => Buffer.from(texts.map(notify).join(''))
  return (id) => {
    if (response.destroyed) return
    const translation = {
      greeting: describe([`submission ${id}`]),
      translate: (events: Buffer) => describe(describeEvents(events.toString())),
    }
    resultStreams.begin(request, response, id, beginning, { translation })
  }
}

function formatMessage(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}

/** Describes the events of a stream that show progress. */
function describeEvents(text: string): string[] {
  // Not `.` and `$`, for which a line also ends at U+2028 and U+2029, which JSON may hold.
  const events = text.matchAll(/^event: (status|test)\ndata: ([^\n]*)/gm)
  return Array.from(events, ([, event, data = '']) => {
    const known = JSON.parse(data) as { status?: string; index?: number; verdict?: string }
    return event === 'status'
      ? `${known.status}`
      : `test ${(known.index ?? 0) + 1}: ${known.verdict}`
  })
}

/** The type of every result that is not a task. */
export const resultType = 'complete'
const pollMilliseconds = 1000

/** Describes a task that is not finished. */
export function describeTask(record: TrackedResult): object {
  const { id, created_at: created, started_at: started, finished_at: finished } = record
  return {
    taskId: id,
    status: 'working',
    statusMessage: record.status,
    createdAt: created,
    lastUpdatedAt: finished ?? started ?? created,
    ttlMs: null,
    pollIntervalMs: pollMilliseconds,
  }
}

/** Describes a task's current state; a finished task has its result or error. */
export function describeEnd(record: TrackedResult): object {
  const task = describeTask(record)
  if (!isFinal(record)) return task
  if (record.status === 'cancelled') return { ...task, status: 'cancelled' }
  try {
    return { ...task, status: 'completed', result: { resultType, ...describeRecord(record) } }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    const { code, message, data } = error
    return { ...task, status: 'failed', statusMessage: message, error: { code, message, data } }
  }
}
