// What every handler gets, and the small pieces that all of them use: the request's id, its query, its Idempotency-Key,
// the end of its connection.
import type { Middleware, Request, Response } from 'polka'
import { v7 as uuidv7, validate } from 'uuid'
import type { Caller } from '#account'
import { Problem } from '#error'
import type { Issue, ProblemCode } from '#error'

/** A request on its way through the routes. */
export interface ApiRequest extends Request {
  /** Of this request; in the answer's X-Request-Id, the log and the events it causes. */
  requestId: string
  /** Set by authenticate.ts for everything under /api. */
  caller: Caller
  /**
   * Set while the key is only known to have been valid a moment ago: checks it, and counts the request. To be called before
   * any answer, unless a statement has checked the key.
   */
  confirm?: () => Promise<void>
  /** The pattern of the path, such as `/api/result/:id`; none for an unknown path. */
  route?: string
  /** The code of the problem that it was answered with. */
  problem?: ProblemCode
}

export type Handler = Middleware<ApiRequest>

/** Gives each request its id, in the answer's X-Request-Id, the log and the events that it causes. */
export const identify: Handler = (request, response, next) => {
  request.requestId = uuidv7()
  response.setHeader('X-Request-Id', request.requestId)
  return next()
}

/** Refuses a request that does not say whom it is for (RFC 9112, 3.2). */
export const requireHost: Handler = (request, _response, next) => {
  if (request.headers.host !== undefined || request.httpVersion === '1.0') return next()
  throw invalidRequest([{ path: 'Host', message: 'is required' }])
}

/**
 * Reads the query strictly: a parameter that is unknown or given twice is an issue.
 * @param known the parameters this route has.
 */
export function readQuery(
  request: ApiRequest,
  known: readonly string[],
): { readonly query: ReadonlyMap<string, string>; readonly issues: readonly Issue[] } {
  const query = new Map<string, string>()
  const issues: Issue[] = []
  for (const [name, text] of new URLSearchParams(request.search)) {
    if (!known.includes(name))
      issues.push({ path: `?${name}`, message: 'is not a parameter of this call' })
    else if (query.has(name)) issues.push({ path: `?${name}`, message: 'is given more than once' })
    query.set(name, text)
  }
  return { query, issues }
}

/** Reads `wait`: true, false, or absent, which is false; anything else is an issue. */
export function readWait(query: ReadonlyMap<string, string>): {
  readonly wait: boolean
  readonly issues: readonly Issue[]
} {
  const text = query.get('wait') ?? 'false'
  return {
    wait: text === 'true',
    issues:
      text === 'true' || text === 'false'
        ? []
        : [{ path: '?wait', message: 'must be true or false' }],
  }
}

/** Reads `Idempotency-Key`: a UUID in any case, or absent, which is null; anything else is an issue. */
export function readIdempotencyKey(request: ApiRequest): {
  readonly idempotencyKey: string | null
  readonly issues: readonly Issue[]
} {
  const text = request.headers['idempotency-key']
  if (text === undefined) return { idempotencyKey: null, issues: [] }
  if (typeof text === 'string' && isUuid(text)) {
    return { idempotencyKey: text.toLowerCase(), issues: [] }
  }
  return { idempotencyKey: null, issues: [{ path: 'Idempotency-Key', message: 'must be a UUID' }] }
}

/** The 400 that lists every issue; its text names the first few. */
export function invalidRequest(issues: readonly Issue[]): Problem {
  const list = issues
    .slice(0, 10)
    .map(({ path, message }) => (path === '' ? message : `${path} ${message}`))
  const more = issues.length > list.length ? '; and more' : ''
  const message = `The request is not valid: ${list.join('; ')}${more}.`
  return new Problem('invalid_request', message, { issues })
}

/** True for a UUID in any version and case. */
export function isUuid(text: string): boolean {
  return validate(text.toLowerCase())
}

/** Seconds to wait: the service's own, shortened by `Prefer: wait=N` (RFC 7240). */
export function waitSeconds(request: ApiRequest, most: number): number {
  const preference = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/i.exec(
    String(request.headers['prefer'] ?? ''),
  )
  return preference === null ? most : Math.min(most, Number(preference[1]))
}

const hungUp = 'the client has hung up'

/** A signal that fires when the client hangs up. */
export function hangUpSignal(response: Response): AbortSignal {
  const controller = new AbortController()
  // Its connection may have ended before anybody asked.
  if (response.destroyed) controller.abort(hungUp)
  // Every answer ends here: the reason that it makes by itself, an error with a stack, costs more than all else of this.
  response.once('close', () => controller.abort(hungUp))
  return controller.signal
}

/** The answer to a known path with another method. */
export function methodNotAllowed(methods: readonly string[]): Handler {
  const allow = methods
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ')
  return () => {
    throw new Problem('method_not_allowed', `This path takes ${allow}.`, {
      headers: { Allow: allow },
    })
  }
}

/** The answer to an unknown path. */
export const notFound: Handler = () => {
  throw new Problem('not_found', 'There is nothing at this path.')
}
