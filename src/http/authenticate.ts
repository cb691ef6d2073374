// Checks X-API-Key and the rate window, before anything else is read.
import { admitRequest, createKnownKeys } from '#account'
import type { Caller, RateWindow } from '#account'
import type { Database } from '#database'
import { Problem } from '#error'
import { withDeadline } from './deadline.ts'
import { notValid } from './problem.ts'
import type { ApiRequest, Handler } from './request.ts'

/**
 * Sets `request.caller`, or answers 401 or 429.
 * @param checkedLater requests whose own statement checks the key: with a recently valid key they pass at once, and
 *   have `request.confirm`.
 */
export function authenticate(
  database: Database,
  checkedLater: (request: ApiRequest) => boolean,
): Handler {
  // With a rate limit each request counts.
  const known = createKnownKeys<Caller>(({ rate }) => rate === null)

  async function admit(
    key: string,
    request: ApiRequest,
    response: Parameters<Handler>[1],
  ): Promise<void> {
    delete request.confirm
    const caller = await withDeadline((signal) => admitRequest(database, key, signal))
    known.learn(key, caller)
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
  }

  return async (request, response, next) => {
    const key = request.headers['x-api-key']
    if (typeof key !== 'string' || key === '') {
      throw new Problem('unauthorized', 'The X-API-Key header is missing.')
    }
    const caller = checkedLater(request) ? known.recall(key) : null
    if (caller === null) {
      await admit(key, request, response)
    } else {
      request.caller = caller
      request.confirm = () => admit(key, request, response)
    }
    return next()
  }
}

// As in draft-ietf-httpapi-ratelimit-headers-11.
function setRateHeaders(response: Parameters<Handler>[1], rate: RateWindow): void {
  response.setHeader('RateLimit-Policy', `"requests";q=${rate.quota};w=60`)
  response.setHeader('RateLimit', `"requests";r=${rate.remaining};t=${rate.resetSeconds}`)
}
