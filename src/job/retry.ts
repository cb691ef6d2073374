// Waits for an unavailable database.
import { setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '#back-off'
import { isUnavailable } from '#database'
import type { Logger } from '#log'

const pauseMilliseconds = { first: 100, longest: 500 }

/**
 * Repeats a call until the database answers it. The call may take effect more than once, so it must be a read, or a write
 * that does no harm when repeated. An append of an event does none: repeated after a lost answer, it fails with 23505.
 */
export async function untilAvailable<T>(call: () => PromiseLike<T>, log: Logger): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      log.warn({ err: error, attempt }, 'database.unavailable')
      await sleep(backOff(attempt, pauseMilliseconds))
    }
  }
}
