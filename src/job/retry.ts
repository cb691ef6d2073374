// Keeps computed results from being lost while the database is away.
import { setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '#back-off'
import { isUnavailable } from '#database'
import type { Logger } from '#log'

const pauseMilliseconds = { first: 100, longest: 500 }

/**
 * Repeats a statement until answered. Only for statements that the log fences: one whose answer was lost fails with
 * 23505 when repeated.
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
