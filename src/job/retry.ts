// A result that was computed must not be lost because the database is away for a moment.
import { setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '#back-off'
import { isUnavailable } from '#database'
import type { Logger } from '#log'

const pauseMilliseconds = { first: 100, longest: 500 }

/**
 * Repeats a statement until the database has answered it. Only for statements that the log fences: one that was
 * committed although its answer was lost fails with 23505 when it is repeated.
 */
export async function untilAvailable<T>(statement: () => PromiseLike<T>, log: Logger): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await statement()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      log.warn({ err: error, attempt }, 'database.unavailable')
      await sleep(backOff(attempt, pauseMilliseconds))
    }
  }
}
