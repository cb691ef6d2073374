// No answer waits for a database that is away: after two seconds the caller gets an error. And which requests may take longer
// to arrive than all others: those whose handler has a deadline of its own for them.
import type { IncomingMessage } from 'node:http'
import { untilAborted, withinSeconds } from '#abort'
import type { Problem } from '#error'
import { unavailable } from './problem.ts'

// Leaves something of the two seconds to the rest of the request.
const deadlineMilliseconds = 1800

/**
 * Settles with the work, or throws the problem: 503 unless another is given.
 * @param work must not write after its signal, or it would take effect after the caller got an error.
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

/** From now on the transport leaves the request alone, and its caller ends it. */
export function extendArrival(request: IncomingMessage): void {
  longer.add(request)
}

/** True until the request is complete. */
export function mayTakeLonger(request: IncomingMessage): boolean {
  return longer.has(request) && !request.complete
}
