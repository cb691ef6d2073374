// The one place where a failure becomes an answer. Whatever is not a Problem is ours: the caller sees an id, the log
// has the rest.
import type { ErrorHandler } from 'polka'
import { isUnavailable } from '#database'
import { Problem } from '#error'
import type { Logger } from '#log'
import { sendJson } from './answer.ts'
import type { ApiRequest } from './request.ts'

/** Creates polka's error handler. */
export function sendProblem(log: Logger): ErrorHandler<ApiRequest> {
  return (error, request, response) => {
    // The client has gone, or got its answer before something failed: there is nobody to tell.
    if (response.headersSent || response.destroyed) {
      response.destroy()
      return
    }
    const problem = toProblem(error)
    request.problem = problem.code
    if (problem.status >= 500) {
      log[problem.code === 'internal' ? 'error' : 'warn'](
        { err: problem.code === 'internal' ? error : undefined, request: request.requestId },
        `request.${problem.code}`,
      )
    }
    sendJson(
      response,
      problem.status,
      {
        error: problem.code,
        message: problem.message,
        ...(problem.details.issues !== undefined && { issues: problem.details.issues }),
        ...(problem.details.id !== undefined && { id: problem.details.id }),
        ...(problem.code === 'internal' && { request_id: request.requestId }),
      },
      problem.details.headers,
    )
  }
}

/** The answer when the database is away. */
export function unavailable(): Problem {
  return new Problem('unavailable', 'The service cannot reach its database. Try again shortly.', {
    headers: { 'Retry-After': '2' },
  })
}

/** Unknown, malformed and somebody else's are one answer: none of them says that an id exists. */
export function noSubmission(): Problem {
  return new Problem('not_found', 'There is no such submission.')
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isUnavailable(error)) return unavailable()
  return new Problem(
    'internal',
    'Something failed on our side. The request_id identifies it in our log.',
  )
}
