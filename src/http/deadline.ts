// No answer waits for a database that is away: after two seconds the caller is told so.
import { unavailable } from './problem.ts'

// What is left of the two seconds is for the rest of the request.
const deadlineMilliseconds = 1800

/**
 * Settles with the work, or throws the 503 problem when it takes too long.
 * @param work gets a signal that fires at the deadline; work that writes must give up on it, so that it does not take
 *   effect after the caller was told that it did not.
 */
export async function withDeadline<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const working = work(controller.signal)
  const deadline = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(unavailable()), { once: true })
  })
  const timer = setTimeout(() => controller.abort(), deadlineMilliseconds)
  try {
    return await Promise.race([working, deadline])
  } finally {
    clearTimeout(timer)
    working.catch(() => {}) // it may fail after the deadline, when nobody listens any more
  }
}
