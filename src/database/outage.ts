// What processes do while the database is away: they repeat calls until it answers, and shorten their log, which would have a
// line for each failed statement. It has the first failure with its reason, a count every 30 s, and when the database is back.
import { setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '#back-off'
import { lastAnswerAt } from './socket.ts'
import { errorCode, isUnavailable, isOfOneStatement } from './sql-state.ts'

const pauseMilliseconds = { first: 100, longest: 500 }
const lookMilliseconds = 1000
const summaryMilliseconds = 30_000
// An outage ends after this time without a failure, because pools notice it one by one and retry within half a second.
const quietMilliseconds = 2000

/** A method of a logger. */
type Write = (fields: object, message?: string) => void

/**
 * Repeats a call until the database answers it. The call may take effect more than once, so it must be a read, or a write
 * that does no harm when repeated. An append of an event does none: repeated after a lost answer, it fails with 23505.
 */
export async function untilAvailable<T>(
  call: () => PromiseLike<T>,
  log: { readonly warn: Write },
): Promise<T> {
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

interface Outage {
  readonly since: number
  failedAt: number
  loggedAt: number
  failures: number
  unlogged: number
}

/**
 * Replaces this logger's warnings about an unavailable database by `database.away` and `database.back`. Warnings whose `err`
 * concerns one statement (a deadlock, a lock, a time-out) are written as before.
 */
export function shortenOutages(log: { info: Write; warn: Write }): void {
  const warn = log.warn.bind(log)
  let outage: Outage | null = null

  const look = (): void => {
    if (outage === null) return
    const now = performance.now()
    const seconds = Math.round((now - outage.since) / 1000)
    if (now - outage.failedAt >= quietMilliseconds && lastAnswerAt() > outage.failedAt) {
      log.info({ seconds, failures: outage.failures }, 'database.back')
      outage = null
      return
    }
    if (now - outage.loggedAt >= summaryMilliseconds && outage.unlogged > 0) {
      warn({ seconds, failures: outage.unlogged }, 'database.away')
      Object.assign(outage, { loggedAt: now, unlogged: 0 })
    }
    setTimeout(look, lookMilliseconds).unref()
  }

  log.warn = (fields, message) => {
    const error = 'err' in fields ? fields.err : undefined
    if (!isUnavailable(error) || isOfOneStatement(error)) {
      warn(fields, message)
      return
    }
    const now = performance.now()
    if (outage !== null) {
      Object.assign(outage, { failedAt: now })
      outage.failures += 1
      outage.unlogged += 1
      return
    }
    outage = { since: now, failedAt: now, loggedAt: now, failures: 1, unlogged: 0 }
    warn(
      { reason: describe(error), error_code: errorCode(error), found_by: message },
      'database.away',
    )
    setTimeout(look, lookMilliseconds).unref()
  }
}

/** Describes an error. Node's error for all addresses of a name has no message of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ')
  return error instanceof Error ? error.message : String(error)
}
