// Deadlines. No answer waits for an unreachable database: after two seconds the caller gets an error. Also marks requests that
// may take longer to arrive than others, because their handler has its own deadline for the arrival.
import type { IncomingMessage } from 'node:http'
import { untilAborted, withinSeconds } from '#abort'
import type { Problem } from '#error'
import { unavailable } from './problem.ts'

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

const longer = new WeakSet<IncomingMessage>()

/** Exempts the request from the transport's time limit; from now on the caller must bound its arrival. */
export function extendArrival(request: IncomingMessage): void {
  longer.add(request)
}

/** True for an exempt request until it is complete. */
export function mayTakeLonger(request: IncomingMessage): boolean {
  return longer.has(request) && !request.complete
}
