// What handlers share: the request's id, query and Idempotency-Key, and the signal that the client has hung up.
import type { Middleware, Request, Response } from 'polka'
import type * as v from 'valibot'
import type { Caller, Operator } from '#account'
import { Problem } from '#error'
import type { Issue, ProblemCode } from '#error'
import type { Metadata } from '#event'
import { createId, isUuid } from '#id'
import { shorten, validate } from '#options'
import { createListOnce } from './offered.ts'

/** An answer in a door's protocol. */
export interface DoorAnswer {
  readonly status: number
  readonly body: object | string
}

export interface ApiRequest extends Request {
  /** Appears also in the answer's X-Request-Id, the log and the events. */
  requestId: string
  /** Set by authenticate.ts under /api and at the paths of doors, unless the key is an operator's. */
  caller: Caller
  /** Set in place of `caller` for an operator's key. */
  operator?: Operator
  /** The path's pattern, such as `/api/result/:id`; absent for an unknown path. */
  route?: string
  problem?: ProblemCode
  /** Formats a failure in the protocol of a door; absent for the API itself. */
  describeProblem?: (problem: Problem) => DoorAnswer
  /** Set when the answer is a stream, which may last as long as its submission. */
  isStream?: true
  /** Set when the request may take longer to arrive than others, because its handler bounds the arrival itself. */
  boundsArrival?: true
}

export type Handler = Middleware<ApiRequest>

export const identify: Handler = (request, response, next) => {
  request.requestId = createId()
  response.setHeader('X-Request-Id', request.requestId)
  return next()
}

/** Returns the metadata for events that this request causes: the request's id and the key that made it. */
export function describeOrigin({ requestId, caller, operator }: ApiRequest): Metadata {
  return { request: requestId, actor: { api_key: (operator ?? caller).apiKeyId } }
}

/** Requires a Host header (RFC 9112, 3.2). */
export const requireHost: Handler = (request, _response, next) => {
  if (request.headers.host !== undefined || request.httpVersion === '1.0') return next()
  throw invalidRequest([{ path: 'Host', message: 'is required' }])
}

/** Reads the query; unknown and repeated parameters are issues. */
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

/** Reads the query by a schema. @throws {Problem} invalid_request with every issue. */
export function readParameters<Value extends object>(
  request: ApiRequest,
  schema: v.GenericSchema<unknown, Value> & { readonly entries: object },
): Value {
  const { query, issues: queryIssues } = readQuery(request, Object.keys(schema.entries))
  const { value, issues: found } = validate(schema, Object.fromEntries(query))
  const issues = [
    ...queryIssues,
    ...found.map(({ path, message }) => ({ path: `?${path}`, message })),
  ]
  if (value === null || issues.length > 0) throw invalidRequest(issues)
  return value
}

/** Refuses any parameter. @throws {Problem} invalid_request. */
export function refuseQuery(request: ApiRequest): void {
  const { issues } = readQuery(request, [])
  if (issues.length > 0) throw invalidRequest(issues)
}

/**
 * Reads `wait`, the only parameter of some calls: true, false or absent; anything else is an issue.
 * @returns also how many seconds to wait: `most`, or fewer by `Prefer: wait=N` (RFC 7240).
 */
export function readWait(
  request: ApiRequest,
  most: number,
): { readonly wait: boolean; readonly seconds: number; readonly issues: readonly Issue[] } {
  const { query, issues } = readQuery(request, ['wait'])
  const text = query.get('wait') ?? 'false'
  const seconds = waitSeconds(request, most)
  if (text === 'true' || text === 'false') return { wait: text === 'true', seconds, issues }
  const bad = { path: '?wait', message: 'must be true or false' }
  return { wait: false, seconds, issues: [...issues, bad] }
}

function waitSeconds(request: ApiRequest, most: number): number {
  const preference = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/i.exec(
    String(request.headers['prefer'] ?? ''),
  )
  return preference === null ? most : Math.min(most, Number(preference[1]))
}

/** Reads the header, a UUID in any case; null when absent. */
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

/** Makes a problem with the first hundred issues. Its message names the first ten, without the list of offered languages. */
export function invalidRequest(found: readonly Issue[]): Problem {
  const issues = shorten(found)
  const list = createListOnce(true)(issues.slice(0, 10)).map(({ path, message }) =>
    path === '' ? message : `${path} ${message}`,
  )
  const more = issues.length > list.length ? '; and more' : ''
  const message = `The request is not valid: ${list.join('; ')}${more}.`
  return new Problem('invalid_request', message, { issues })
}

/** Returns the texts that are ids, in lower case and each once. */
export function listIds(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.filter(isUuid).map((text) => text.toLowerCase()))]
}

const hungUp = 'the client has hung up'

/** Returns a signal that fires when the response closes: after the answer, or when the client hangs up. */
export function hangUpSignal(response: Response): AbortSignal {
  const controller = new AbortController()
  // The connection may already be closed.
  if (response.destroyed) controller.abort(hungUp)
  // The reason is a string, because the signal fires after every answer, and the default reason, an error with a stack, would
  // cost more than the rest of this function.
  response.once('close', () => controller.abort(hungUp))
  return controller.signal
}

/** Answers 405 for a known path. */
export function methodNotAllowed(methods: readonly string[]): Handler {
  const allow = methods
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ')
  return () => {
    throw new Problem('method_not_allowed', `This path accepts only ${allow}.`, {
      headers: { Allow: allow },
    })
  }
}

/** Answers 404 for an unknown path. */
export const notFound: Handler = () => {
  throw new Problem('not_found', 'There is nothing at this path.')
}
