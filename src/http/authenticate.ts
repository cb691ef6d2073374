// X-API-Key and the rate window, before anything else of the request is read.
import { admitRequest } from '#account'
import type { RateWindow } from '#account'
import type { Database } from '#database'
import { Problem } from '#error'
import { withDeadline } from './deadline.ts'
import type { Handler } from './request.ts'

/** Lets a request pass with `request.caller` set, or answers 401 or 429. */
export function authenticate(database: Database): Handler {
  return async (request, response, next) => {
    const key = request.headers['x-api-key']
    if (typeof key !== 'string' || key === '') {
      throw new Problem('unauthorized', 'The X-API-Key header is missing.')
    }
    const caller = await withDeadline(() => admitRequest(database, key))
    if (caller === null) throw new Problem('unauthorized', 'This API key is not valid.')
    if (caller.rate !== null) setRateHeaders(response, caller.rate)
    if (!caller.admitted) {
      throw new Problem('rate_limited', 'This key has used up its requests of the last minute.', {
        headers: { 'Retry-After': String(caller.rate?.resetSeconds ?? 1) },
      })
    }
    request.caller = caller
    return next()
  }
}

// As draft-ietf-httpapi-ratelimit-headers-11 words them.
function setRateHeaders(response: Parameters<Handler>[1], rate: RateWindow): void {
  response.setHeader('RateLimit-Policy', `"requests";q=${rate.quota};w=60`)
  response.setHeader('RateLimit', `"requests";r=${rate.remaining};t=${rate.resetSeconds}`)
}
