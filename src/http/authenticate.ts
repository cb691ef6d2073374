// Checks X-API-Key and the rate limit before anything else of a request is read. Operators' keys open the paths under
// /api/operator and nothing else; all other keys open the other paths.
import { admitOperator, createAdmit, digestKey, isWellFormedKey } from '#account'
import type { Operator, RateWindow } from '#account'
import { cachedRead } from '#database'
import type { Database } from '#database'
import { Problem } from '#error'
import { withDeadline } from './deadline.ts'
import { notValid, retryAfter } from './problem.ts'
import type { Handler } from './request.ts'

/** The prefix of all paths for operators, and of no other path. */
const operatorPrefix = '/api/operator/'

// SECURITY.md promises that a revoked operator's key can read for four seconds at most.
const keptMilliseconds = 4000
// Bounds the keys of strangers while the database does not answer; later only issued keys are kept.
const keptKeys = 10_000

/** Sets `request.caller` and counts the request, or sets `request.operator`. @throws {Problem} 401, 403 or 429. */
export function authenticate(database: Database): Handler {
  const admit = createAdmit(database)
  const findOperator = createFindOperator(database)
  return async (request, response, next) => {
    const key = request.headers['x-api-key']
    if (typeof key !== 'string' || key === '') {
      throw new Problem('unauthorized', 'The X-API-Key header is missing.')
    }
    if (isWellFormedKey(key, 'operator')) {
      const operator = await findOperator(request.method, key)
      if (operator === null) throw notValid()
      if (request.route?.startsWith(operatorPrefix) === false)
        throw forbidden(
          'This is an operator’s key: it can be used only under /api/operator and cannot submit.',
        )
      request.operator = operator
      return next()
    }
    const caller = await withDeadline((signal) => admit(key, signal))
    if (caller === null) throw notValid()
    if (caller.rate !== null) setRateHeaders(response, caller.rate)
    if (!caller.admitted) {
      const quota = caller.rate?.quota ?? 0
      const message = `This key's tier admits ${quota} requests in any 60 seconds, and they are used up.`
      throw retryAfter('rate_limited', message, caller.rate?.resetSeconds)
    }
    request.caller = caller
    return next()
  }
}

// The headers follow draft-ietf-httpapi-ratelimit-headers-11.
function setRateHeaders(response: Parameters<Handler>[1], rate: RateWindow): void {
  response.setHeader('RateLimit-Policy', `"requests";q=${rate.quota};w=60`)
  response.setHeader('RateLimit', `"requests";r=${rate.remaining};t=${rate.resetSeconds}`)
}

/**
 * Returns a function that finds the operator of a key. For requests that only read, a key is looked up every few seconds, once
 * for all of its requests, so that open console pages do not cost a statement each second.
 */
function createFindOperator(
  database: Database,
): (method: string | undefined, key: string) => Promise<Operator | null> {
  // By the digest of the key, so that no key stays in memory.
  const reads = new Map<string, () => Promise<Operator | null>>()
  return async (method, key) => {
    const digest = digestKey(key)
    const name = digest.toString('base64')
    const ask = (): Promise<Operator | null> =>
      withDeadline((signal) => admitOperator(database, digest, signal))
    const isRead = method === 'GET' || method === 'HEAD'
    const read = reads.get(name) ?? cachedRead(ask, keptMilliseconds)
    if (isRead) {
      if (reads.size >= keptKeys) reads.clear()
      reads.set(name, read)
    }
    const operator = await (isRead ? read() : ask())
    if (operator === null) reads.delete(name)
    return operator
  }
}

/** Restricts a handler to operators' keys. */
export function forOperators(handler: Handler): Handler {
  return (request, response, next) => {
    if (request.operator === undefined) throw forbidden('This path needs an operator’s key.')
    return handler(request, response, next)
  }
}

/** Restricts a handler to operators' keys that may change something. */
export function forSteering(handler: Handler): Handler {
  return forOperators((request, response, next) => {
    if (request.operator?.isReadOnly === true) throw forbidden('This operator’s key is read-only.')
    return handler(request, response, next)
  })
}

function forbidden(message: string): Problem {
  return new Problem('forbidden', message)
}
