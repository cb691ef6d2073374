// Turns failures into answers. What is no Problem is our fault: the caller sees an id, the log has the rest.
import type { ErrorHandler } from 'polka'
import { errorCode, isUnavailable, isUnmigrated, sqlState } from '#database'
import { blame, Problem } from '#error'
import type { Logger } from '#log'
import { sendJson } from './answer.ts'
import type { ApiRequest } from './request.ts'

/** @param findMissing asked for what the database lacks, when it refuses what this code wants of it. */
export function sendProblem(
  log: Logger,
  findMissing: () => Promise<string | null>,
): ErrorHandler<ApiRequest> {
  return async (error, request, response) => {
    const missing = refusesUs(error) ? await askFor(findMissing) : null
    // Nobody listens any more.
    if (response.headersSent || response.destroyed) {
      response.destroy()
      return
    }
    const problem = missing === null ? toProblem(error) : new Problem('unavailable', missing)
    request.problem = problem.code
    // `findMissing` has logged once what is missing.
    if (problem.status >= 500 && missing === null) {
      log[problem.code === 'internal' ? 'error' : 'warn'](
        { err: error instanceof Problem ? error.cause : error, request: request.requestId },
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

/** As the API answers it, alone or in an item's place. */
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

/** @param cause for the log. */
export function unavailable(cause?: unknown): Problem {
  const message = 'The service cannot reach its database. Try again shortly.'
  return new Problem('unavailable', message, { headers: { 'Retry-After': '2' }, cause })
}

/** @param why a sentence. @param seconds until there may be some. */
export function noRoom(why: string, seconds = 1): Problem {
  return new Problem('unavailable', `${why} Try again shortly.`, {
    headers: { 'Retry-After': String(seconds) },
  })
}

/** Unknown, malformed and foreign ids look the same, so that none reveals an id. */
export function noSubmission(): Problem {
  return new Problem('not_found', 'There is no such submission.')
}

/** Of what was submitted with it nothing is left but hashes. */
export function purged(): Problem {
  return new Problem(
    'purged',
    'The submission’s code and input were removed, after the retention period or at its account’s wish.',
  )
}

/** True when this login may not, or the database is another one than this code knows. */
function refusesUs(error: unknown): boolean {
  return errorCode(error) === sqlState.insufficientPrivilege || isUnmigrated(error)
}

async function askFor(findMissing: () => Promise<string | null>): Promise<string | null> {
  try {
    return await findMissing()
  } catch {
    return null // it is away by now
  }
}

/** What is no Problem is our fault. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isUnavailable(error)) return unavailable(error)
  return new Problem(
    'internal',
    'Something failed on our side. The request_id identifies it in our log.',
  )
}
