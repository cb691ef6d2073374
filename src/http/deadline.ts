// No answer waits for a database that is away: after two seconds the caller is told.
import { unavailable } from './problem.ts'

// Leaves something of the two seconds to the rest of the request.
const deadlineMilliseconds = 1800

/**
 * Settles with the work, or throws the 503 problem.
 * @param work must not write after its signal, or it would take effect after the caller was told otherwise.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  milliseconds = deadlineMilliseconds,
): Promise<T> {
  const controller = new AbortController()
  const working = work(controller.signal)
  const deadline = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(unavailable()), { once: true })
  })
  const timer = setTimeout(() => controller.abort(), milliseconds)
  try {
    return await Promise.race([working, deadline])
  } finally {
    clearTimeout(timer)
    working.catch(() => {}) // it may fail after the deadline, unheard
  }
}
