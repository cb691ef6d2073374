// Logs one line per request at `debug`. The line holds the path's pattern, because clients choose the path itself. Headers and
// bodies are never logged.
import type { Logger } from '#log'
import type { Handler } from './request.ts'

/** Logs each request; `status` is null when the caller left before the answer. */
export function logAccess(log: Logger): Handler {
  return (request, response, next) => {
    if (!log.isLevelEnabled('debug')) return next()
    const start = performance.now()
    response.once('close', () => {
      const answer = {
        request: request.requestId,
        method: request.method,
        route: request.route ?? null,
        status: response.writableFinished ? response.statusCode : null,
        milliseconds: Math.round((performance.now() - start) * 10) / 10,
        // Null without a valid key.
        account: (request.caller as typeof request.caller | undefined)?.accountId ?? null,
      }
      log.debug(answer, 'request.answered')
    })
    return next()
  }
}
