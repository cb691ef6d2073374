// Turns failures into answers. An error that is not a Problem is a failure of the service: the caller sees the request's id,
// and the log has the details. No answer waits for an unreachable database: after two seconds the caller gets an error.
import type { ErrorHandler } from 'polka'
import { untilAborted, withinSeconds } from '#abort'
import { errorCode, isUnavailable, isUnmigrated, sqlState } from '#database'
import { blame, Problem } from '#error'
import type { Logger } from '#log'
import { sendJson } from './answer.ts'
import type { ApiRequest } from './request.ts'

/**
 * Answers with the problem, and logs failures of the service.
 * @param findMissing says what the database lacks; called when the database refuses a statement of this code.
 */
export function sendProblem(
  log: Logger,
  findMissing: () => Promise<string | null>,
): ErrorHandler<ApiRequest> {
  return async (failure, request, response) => {
    // The check fails when the database is unreachable by now.
    const missing = refusesUs(failure) ? await findMissing().catch(() => null) : null
    // The answer was already started, or the client has gone.
    if (response.headersSent || response.destroyed) {
      response.destroy()
      return
    }
    const problem = missing === null ? toProblem(failure) : new Problem('unavailable', missing)
    request.problem = problem.code
    // `findMissing` logs by itself what is missing, once.
    if (problem.status >= 500 && missing === null) {
      log[problem.code === 'internal' ? 'error' : 'warn'](
        { err: failure instanceof Problem ? failure.cause : failure, request: request.requestId },
        `request.${problem.code}`,
      )
    }
    const own = {
      ...describeProblem(problem),
      ...(problem.code === 'internal' && { request_id: request.requestId }),
    }
    const { status, body } = request.describeProblem?.(problem) ?? { status: problem.status, body: own } // prettier-ignore
    sendJson(response, status, body, problem.details.headers)
  }
}

/** Returns the body of the API's answer; in a batch, the element for a refused item. */
export function describeProblem({ code, message, details: { issues, id } }: Problem): object {
  return {
    error: code,
    message,
    ...blame(code),
    ...(issues !== undefined && { issues }),
    ...(id !== undefined && { id }),
  }
}

export function notValid(): Problem {
  return new Problem('unauthorized', 'This API key is not valid.')
}

/** Returns the 503 for an unreachable database. @param cause for the log. */
export function unavailable(cause?: unknown): Problem {
  const message = 'The service cannot reach its database. Try again shortly.'
  return new Problem('unavailable', message, { headers: { 'Retry-After': '2' }, cause })
}

// Leaves a part of the two seconds to the rest of the request.
const deadlineMilliseconds = 1800

/**
 * Settles with the work, or throws the problem when the time is up: a 503 by default.
 * @param work must not write after its signal; otherwise it could take effect after the caller got an error.
 */
export function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  milliseconds = deadlineMilliseconds,
  problem: () => Problem = tooLate,
): Promise<T> {
  return withinSeconds((signal) => untilAborted(work(signal), signal), milliseconds / 1000, problem)
}

function tooLate(): Problem {
  const error = new Error('the database has not answered in time')
  return unavailable(Object.assign(error, { code: 'ETIMEDOUT' }))
}

/** Returns a problem that passes by itself. @param seconds until it may have passed. */
export function retryAfter(
  code: 'rate_limited' | 'queue_full' | 'unavailable',
  message: string,
  seconds = 1,
): Problem {
  return new Problem(code, message, { headers: { 'Retry-After': String(seconds) } })
}

/** Returns the same 404 for unknown, malformed and foreign ids, so that the answer does not reveal an id. */
export function noSubmission(): Problem {
  return new Problem('not_found', 'There is no such submission.')
}

/** Returns the 410 for a submission of whose content only hashes are left. */
export function purged(): Problem {
  return new Problem(
    'purged',
    'The submission’s code and input were removed, after the retention period or at the request of its account.',
  )
}

/** True when the login lacks a right, or the database's schema is not the one that this code expects. */
function refusesUs(error: unknown): boolean {
  return errorCode(error) === sqlState.insufficientPrivilege || isUnmigrated(error)
}

/** Turns any error into a Problem; an unexpected one becomes `internal`. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isUnavailable(error)) return unavailable(error)
  return new Problem(
    'internal',
    'Something failed on our side. The request_id identifies it in our log.',
  )
}
