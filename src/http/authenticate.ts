// Checks X-API-Key and the rate limit before anything else of a request is read.
import { createAdmit } from '#account'
import type { RateWindow } from '#account'
import type { Database } from '#database'
import { Problem } from '#error'
import { withDeadline } from './deadline.ts'
import { notValid } from './problem.ts'
import type { Handler } from './request.ts'

/** Finds the key's account and counts the request. Sets `request.caller`, or answers 401 or 429. */
export function authenticate(database: Database): Handler {
  const admit = createAdmit(database)
  return async (request, response, next) => {
    const key = request.headers['x-api-key']
    if (typeof key !== 'string' || key === '') {
      throw new Problem('unauthorized', 'The X-API-Key header is missing.')
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
