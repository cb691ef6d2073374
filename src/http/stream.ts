// GET /api/result/{id}/stream: a submission's progress as server-sent events (https://html.spec.whatwg.org, "Server-sent
// events"). #result decides which events are sent, and when. This module keeps the connection alive, and closes it when the
// client does not read; the client resumes with Last-Event-ID.
import type { Response } from 'polka'
import { beginning, hasResult, parsePosition } from '#result'
import type { Position } from '#result'
import { boundRest, usualHeaders } from './answer.ts'
import type { HttpContext, HttpDependencies } from './http.ts'
import { readOwn } from './read.ts'
import { refuseQuery } from './request.ts'
import type { ApiRequest, Handler } from './request.ts'
import { createStreamLimiter, usualBounds } from './stream-limiter.ts'
import type { AdmitStream, StreamBounds } from './stream-limiter.ts'

/** The result streams of one web process. */
export interface ResultStreams {
  readonly admit: AdmitStream
  readonly open: number
  readonly bounds: StreamBounds
  /** Answers with a stream. The caller has admitted it, and has checked that the submission belongs to the account. */
  begin(
    request: ApiRequest,
    response: Response,
    id: string,
    from: Position,
    more?: {
      readonly headers?: Readonly<Record<string, string>>
      readonly translation?: Translation | undefined
    },
  ): void
}

/** Translates a stream into another protocol. The caller sends the last message, and bounds how long the stream lasts. */
interface Translation {
  readonly greeting: Buffer
  /** Returns the bytes to send for these events; may be empty. */
  translate(events: Buffer): Buffer
}

const lookMilliseconds = 1000
/** The most time for a stream's last bytes, for a client that reads a little now and then. */
const lastMilliseconds = 60_000

export const streamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  ...usualHeaders,
  // Otherwise nginx buffers the stream.
  'X-Accel-Buffering': 'no',
}
const greeting = Buffer.from('retry: 1000\n\n')
const comment = Buffer.from(':\n\n')
const nothing = Buffer.alloc(0)

interface Open {
  readonly response: Response
  /** True for a stream in another protocol; its caller ends it. */
  readonly isTranslated: boolean
  readonly startedAt: number
  writtenAt: number
  /** Since when the client has not taken what was sent; null when it has taken all. */
  blockedAt: number | null
  /** When the last byte was written, which the client may still be reading; null before. */
  overAt: number | null
}

export function createResultStreams({ streams, streamBounds }: HttpDependencies): ResultStreams {
  const bounds = { ...usualBounds, ...streamBounds }
  const { commentMilliseconds, slowReaderMilliseconds, longestMilliseconds } = bounds
  const all = new Set<Open>()

  function look(): void {
    const now = performance.now()
    for (const one of all) {
      if (one.response.writableEnded) one.overAt ??= now
      if (one.overAt !== null) {
        if (now - one.overAt > lastMilliseconds) one.response.destroy()
      } else if (one.blockedAt !== null && now - one.blockedAt > slowReaderMilliseconds)
        one.response.destroy()
      else if (!one.isTranslated && now - one.startedAt > longestMilliseconds) finish(one, nothing)
      else if (one.blockedAt === null && now - one.writtenAt >= commentMilliseconds)
        write(one, comment)
    }
  }
  setInterval(look, Math.min(lookMilliseconds, slowReaderMilliseconds)).unref()

  function write(one: Open, bytes: Buffer): void {
    if (one.overAt !== null || one.response.writableEnded || bytes.length === 0) return
    one.writtenAt = performance.now()
    if (!one.response.write(bytes)) one.blockedAt ??= one.writtenAt
  }

  function finish(one: Open, bytes: Buffer): void {
    const { response } = one
    if (one.overAt !== null) return
    one.overAt = performance.now()
    boundRest(response, bytes, slowReaderMilliseconds)
    response.end(bytes)
  }

  return {
    admit: createStreamLimiter(bounds),
    bounds,
    get open() {
      return all.size
    },
    begin(request, response, id, from, { headers = {}, translation } = {}) {
      request.isStream = true
      response.writeHead(200, { ...streamHeaders, ...headers })
      if (request.method === 'HEAD') {
        response.end()
        return
      }
      const now = performance.now()
      const times = { startedAt: now, writtenAt: now, blockedAt: null, overAt: null }
      const isTranslated = translation !== undefined
      const one: Open = { response, isTranslated, ...times }
      all.add(one)
      write(one, translation?.greeting ?? greeting)
      const { noteReady, leave } = streams.follow(id, from, {
        get isReady() {
          return one.blockedAt === null && one.overAt === null
        },
        give: (bytes) => write(one, translation?.translate(bytes) ?? bytes),
        end: (bytes) => {
          if (!isTranslated) finish(one, bytes ?? nothing)
        },
      })
      response.on('drain', () => {
        one.blockedAt = null
        noteReady()
      })
      response.once('close', () => {
        one.overAt ??= performance.now()
        leave()
        all.delete(one)
      })
    },
  }
}

export function streamResult({ database, resultStreams }: HttpContext): Handler {
  return async (request, response) => {
    refuseQuery(request)
    const id = await readOwn(request, async (own, accountId) =>
      (await hasResult(database, own, accountId)) ? own : null,
    )
    const last = request.headers['last-event-id']
    const from = typeof last === 'string' ? parsePosition(last) : beginning
    if (from.stage === 'ended') {
      // A browser does not reconnect after a 204.
      response.writeHead(204).end()
      return
    }
    resultStreams.admit(request, response)
    if (!response.destroyed) resultStreams.begin(request, response, id, from)
  }
}

/** True when the Accept header names this media type of a stream. */
export function asksForStream(
  { headers: { accept = '' } }: ApiRequest,
  type = 'text/event-stream',
): boolean {
  return accept.split(',').some((range) => range.split(';', 1)[0]?.trim().toLowerCase() === type)
}
