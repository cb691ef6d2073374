// Checks X-API-Key and the rate limit before anything else of a request is read. Operators' keys open the paths under
// /api/operator and nothing else; all other keys open the other paths.
import { createAdmit, createAdmitOperator, isWellFormedKey } from '#account'
import type { RateWindow } from '#account'
import type { Database } from '#database'
import { Problem } from '#error'
import { notValid, retryAfter, withDeadline } from './problem.ts'
import type { Handler } from './request.ts'

/** The prefix of all paths for operators, and of no other path. */
const operatorPrefix = '/api/operator/'

/** Sets `request.caller` and counts the request, or sets `request.operator`. @throws {Problem} 401, 403 or 429. */
export function authenticate(database: Database): Handler {
  const admit = createAdmit(database)
  const admitOperator = createAdmitOperator(database)
  return async (request, response, next) => {
    const key = request.headers['x-api-key']
    if (typeof key !== 'string' || key === '') {
      throw new Problem('unauthorized', 'The X-API-Key header is missing.')
    }
    if (isWellFormedKey(key, 'operator')) {
      const operator = await withDeadline((signal) => admitOperator(key, signal))
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
