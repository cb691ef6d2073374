// GET /api/result/{id}/stream: a submission as it goes on, as server-sent events (https://html.spec.whatwg.org, "Server-sent
// events"). What is told, and when, is #result's; here is the connection: how many there may be, that they are alive, and that
// whoever does not read is let go. He comes back with Last-Event-ID.
import type { Response } from 'polka'
import { Problem } from '#error'
import { beginning, hasResult, parsePosition } from '#result'
import type { Position } from '#result'
import { withDeadline } from './deadline.ts'
import type { HttpDependencies } from './http.ts'
import { noSubmission } from './problem.ts'
import { isUuid, refuseQuery } from './request.ts'
import type { ApiRequest, Handler } from './request.ts'
import { createShares } from './share.ts'
import { unsentAnswers } from './unsent.ts'

/** Those of one web process. */
export interface StreamDesk {
  readonly open: number
  /**
   * Keeps a place until it is given back, for a stream that is about to begin.
   * @returns gives it back.
   * @throws {Problem} when the process, the account or the key has as many as it may.
   */
  admit(request: ApiRequest): () => void
  /** Answers with the stream. Whose submission it is was seen to. */
  begin(
    request: ApiRequest,
    response: Response,
    id: string,
    from: Position,
    headers?: Readonly<Record<string, string>>,
  ): void
}

export interface StreamBounds {
  readonly openMost: number
  /** Of a key with a rate limit; an account may have as many at the least, and more while many are free. */
  readonly openPerKeyMost: number
  readonly commentMilliseconds: number
  /** So long what was sent may wait to be taken. */
  readonly slowReaderMilliseconds: number
  readonly longestMilliseconds: number
}

const usualBounds: StreamBounds = {
  // Each takes some 30 KB, and a line of a statement once a second.
  openMost: 5000,
  openPerKeyMost: 100,
  commentMilliseconds: 15_000,
  slowReaderMilliseconds: 15_000,
  // Then the client comes back, and its key is looked at again.
  longestMilliseconds: 15 * 60_000,
}
const lookMilliseconds = 1000
/** So long whoever reads a little now and then may take for the last of it. */
const lastMilliseconds = 60_000

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  // Or nginx would gather it.
  'X-Accel-Buffering': 'no',
}
const greeting = 'retry: 1000\n\n'
const comment = Buffer.from(':\n\n')

interface Open {
  readonly key: string
  readonly accountId: string
  readonly response: Response
  readonly beganAt: number
  saidAt: number
  /** Null: all was taken. */
  blockedAt: number | null
  /** It has its last byte, and may still be taking it; null: not yet. */
  overAt: number | null
}

export function createStreamDesk({
  streams,
  streamBounds,
}: Pick<HttpDependencies, 'streams' | 'streamBounds'>): StreamDesk {
  const {
    openMost,
    openPerKeyMost,
    commentMilliseconds,
    slowReaderMilliseconds,
    longestMilliseconds,
  } = { ...usualBounds, ...streamBounds }
  const all = new Set<Open>()
  const byKey = new Map<string, number>()
  // Both those that are open and those about to be.
  const shares = createShares(openMost, openPerKeyMost)

  function look(): void {
    const now = performance.now()
    for (const one of all) {
      if (one.overAt !== null) {
        if (now - one.overAt > lastMilliseconds) one.response.destroy()
      } else if (one.blockedAt !== null && now - one.blockedAt > slowReaderMilliseconds)
        one.response.destroy()
      else if (now - one.beganAt > longestMilliseconds) finish(one, null)
      else if (one.blockedAt === null && now - one.saidAt >= commentMilliseconds) say(one, comment)
    }
  }
  setInterval(look, Math.min(lookMilliseconds, slowReaderMilliseconds)).unref()

  function say(one: Open, bytes: Buffer | string): void {
    if (one.overAt !== null) return
    one.saidAt = performance.now()
    if (!one.response.write(bytes)) one.blockedAt ??= one.saidAt
  }

  function finish(one: Open, bytes: Buffer | null): void {
    const { response } = one
    if (one.overAt !== null) return
    one.overAt = performance.now()
    one.blockedAt = null
    // What it takes to the end is bounded as any answer is.
    response.setTimeout(slowReaderMilliseconds, () => response.destroy())
    if (bytes !== null) unsentAnswers.note(response, one.key, bytes)
    response.end(bytes ?? undefined)
  }

  function tooMany(message: string, isTheirs: (one: Open) => boolean): Problem {
    const oldest = all.values().find(isTheirs)
    const left = (oldest?.beganAt ?? 0) + longestMilliseconds - performance.now()
    // At the latest.
    const seconds = Math.max(1, Math.ceil(left / 1000))
    return new Problem('rate_limited', message, { headers: { 'Retry-After': String(seconds) } })
  }

  function count({ key, accountId }: Pick<Open, 'key' | 'accountId'>, by: 1 | -1): void {
    shares.add(accountId, by)
    const open = (byKey.get(key) ?? 0) + by
    if (open === 0) byKey.delete(key)
    else byKey.set(key, open)
  }

  return {
    get open() {
      return all.size
    },

    admit({ caller: { apiKeyId: key, accountId, rate } }) {
      if (rate !== null && (byKey.get(key) ?? 0) >= openPerKeyMost)
        throw tooMany(
          `This key has ${openPerKeyMost} streams open here, as many as it may.`,
          (one) => one.key === key,
        )
      const refusal = shares.refuse(accountId, 1)
      if (refusal === 'share')
        throw tooMany(
          'This account has as many streams open here as it may while others need some.',
          (one) => one.accountId === accountId,
        )
      if (refusal === 'full')
        throw new Problem('unavailable', 'Too many streams are open. Try again shortly.', {
          headers: { 'Retry-After': '1' },
        })
      count({ key, accountId }, 1)
      return () => count({ key, accountId }, -1)
    },

    begin(request, response, id, from, further = {}) {
      request.isStream = true
      response.writeHead(200, { ...headers, ...further })
      if (request.method === 'HEAD') {
        response.end()
        return
      }
      const now = performance.now()
      const { apiKeyId: key, accountId } = request.caller
      const times = { beganAt: now, saidAt: now, blockedAt: null, overAt: null }
      const one: Open = { key, accountId, response, ...times }
      all.add(one)
      count(one, 1)
      say(one, greeting)
      const { noteReady, leave } = streams.watch(id, from, {
        get isReady() {
          return one.blockedAt === null && one.overAt === null
        },
        give: (bytes) => say(one, bytes),
        end: (bytes) => finish(one, bytes),
      })
      response.on('drain', () => {
        one.blockedAt = null
        noteReady()
      })
      response.once('close', () => {
        one.overAt ??= performance.now()
        leave()
        if (all.delete(one)) count(one, -1)
      })
    },
  }
}

export function streamResult(
  { database }: Pick<HttpDependencies, 'database'>,
  desk: StreamDesk,
): Handler {
  return async (request, response) => {
    refuseQuery(request)
    const id = (request.params['id'] ?? '').toLowerCase()
    const { accountId } = request.caller
    const isTheirs = isUuid(id) && (await withDeadline(() => hasResult(database, id, accountId)))
    if (!isTheirs) throw noSubmission()
    const last = request.headers['last-event-id']
    const from = typeof last === 'string' ? parsePosition(last) : beginning
    if (from.stage === 'ended') {
      // A browser that is told so does not come back.
      response.writeHead(204).end()
      return
    }
    const giveBack = desk.admit(request)
    if (!response.destroyed) desk.begin(request, response, id, from)
    giveBack()
  }
}

/** True when the answer is to be a stream. */
export function asksForStream({ headers: { accept = '' } }: ApiRequest): boolean {
  return accept
    .split(',')
    .some((range) => range.split(';', 1)[0]?.trim().toLowerCase() === 'text/event-stream')
}
