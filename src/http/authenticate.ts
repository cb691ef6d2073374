// Checks X-API-Key and the rate limit before anything else of a request is read. Operators' keys open the paths under
// /api/operator and nothing else; all other keys open the other paths.
import { admitOperator, createAdmit, createKnownKeys, isWellFormedKey } from '#account'
import type { Operator, RateWindow } from '#account'
import type { Database } from '#database'
import { Problem } from '#error'
import { withDeadline } from './deadline.ts'
import { notValid } from './problem.ts'
import type { ApiRequest, Handler } from './request.ts'

/** The prefix of all paths for operators, and of no other path. */
const operatorPrefix = '/api/operator/'

/**
 * Finds the key's account and counts the request, or finds the key's operator. Sets `request.caller` or `request.operator`, or
 * answers 401, 403 or 429.
 */
export function authenticate(database: Database): Handler {
  const admit = createAdmit(database)
  const findOperator = createFindOperator(database)
  return async (request, response, next) => {
    const key = request.headers['x-api-key']
    if (typeof key !== 'string' || key === '') {
      throw new Problem('unauthorized', 'The X-API-Key header is missing.')
    }
    if (isWellFormedKey(key, 'operator')) {
      request.operator = await findOperator(request, key)
      return next()
    }
    const caller = await withDeadline((signal) => admit(key, signal))
    if (caller === null) throw notValid()
    if (caller.rate !== null) setRateHeaders(response, caller.rate)
    if (!caller.admitted) {
      const quota = caller.rate?.quota ?? 0
      const message = `This key's tier admits ${quota} requests in any 60 seconds, and they are used up.`
      throw new Problem('rate_limited', message, {
        headers: { 'Retry-After': String(caller.rate?.resetSeconds ?? 1) },
      })
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
 * Returns a function that finds the operator of a key, or throws the 401 or 403. For requests that only read, a key is looked
 * up in the database every few seconds, once for all of its requests, so that open console pages do not cost a statement each
 * second.
 */
function createFindOperator(
  database: Database,
): (request: ApiRequest, key: string) => Promise<Operator> {
  const known = createKnownKeys<Operator>()
  // Lookups under way, shared because a thousand open pages may ask at once when their key is no longer remembered.
  const asking = new Map<string, Promise<Operator | null>>()
  const ask = (key: string): Promise<Operator | null> =>
    withDeadline((signal) => admitOperator(database, key, signal))
  const askOnce = (key: string): Promise<Operator | null> => {
    const asked = asking.get(key) ?? ask(key).finally(() => asking.delete(key))
    asking.set(key, asked)
    return asked
  }
  return async (request, key) => {
    const looks = request.method === 'GET' || request.method === 'HEAD'
    let operator = looks ? known.recall(key) : null
    if (operator === null) {
      operator = await (looks ? askOnce(key) : ask(key))
      known.learn(key, operator)
    }
    if (operator === null) throw notValid()
    if (request.route?.startsWith(operatorPrefix) === false)
      throw forbidden(
        'This is an operator’s key: it can be used only under /api/operator and cannot submit.',
      )
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
