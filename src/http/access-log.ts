// One line in the log for each request, at `debug`: for whoever looks for a caller's trouble. The path's pattern, never the path,
// which a stranger wrote; never a header or the body.
import type { Logger } from '#log'
import type { Handler } from './request.ts'

/** Logs each request when it has been answered; `status` is null when its caller left before. */
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
        // None for a request that names no valid key.
        account: (request.caller as typeof request.caller | undefined)?.accountId ?? null,
      }
      log.debug(answer, 'request.answered')
    })
    return next()
  }
}
