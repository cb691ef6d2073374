// Waiting for a submission's end: one LISTEN connection for the whole process and a map from id to who waits.
//
// No answer depends on a notification alone: it can be lost while LISTEN reconnects. So the ids that are waited for are
// looked up together once a second, and at once when LISTEN is (re-)established. A waiter itself holds no connection.
import type { Database } from '#database'

export interface Waiter {
  /**
   * Resolves true when the submission is final, false when the time is up or the signal fires.
   * Call it before reading the state, and read the state after it resolves.
   * @param seconds how long to wait at most.
   */
  wait(id: string, seconds: number, signal?: AbortSignal): Promise<boolean>
  /** How many wait now. */
  readonly waiting: number
  /** Wakes everybody (with false) and ends the connection. */
  close(): Promise<void>
}

/** What to do when a look-up of waited ids fails; the next second tries again. */
export type OnWaiterError = (error: unknown) => void

const lookupIntervalMilliseconds = 1000

/** Starts listening. Resolves at once: a database that is away now is tried until it is back. */
export function createWaiter(sql: Database, onError: OnWaiterError): Waiter {
  const waiting = new Map<string, Set<(final: boolean) => void>>()
  let count = 0

  const wake = (id: string): void => {
    for (const resolve of waiting.get(id) ?? []) resolve(true)
  }
  const lookUp = async (): Promise<void> => {
    if (waiting.size === 0) return
    const rows = await sql`
      select id from runledger.result
      where id = any(${[...waiting.keys()]}::uuid[]) and finished_at is not null`
    for (const row of rows) wake(row['id'] as string)
  }
  const listening = sql.listen('submission_finished', wake, () => void lookUp().catch(onError))
  listening.catch(onError)
  let lookingUp = false
  const timer = setInterval(() => {
    if (lookingUp) return
    lookingUp = true
    void lookUp()
      .catch(onError)
      .finally(() => {
        lookingUp = false
      })
  }, lookupIntervalMilliseconds)

  return {
    get waiting() {
      return count
    },
    wait(id, seconds, signal) {
      return new Promise((resolve) => {
        const settle = (final: boolean): void => {
          clearTimeout(timeout)
          signal?.removeEventListener('abort', onAbort)
          const others = waiting.get(id)
          if (others?.delete(settle) === true) count -= 1
          if (others?.size === 0) waiting.delete(id)
          resolve(final)
        }
        const onAbort = (): void => settle(false)
        const timeout = setTimeout(settle, seconds * 1000, false)
        signal?.addEventListener('abort', onAbort)
        const others = waiting.get(id) ?? new Set()
        waiting.set(id, others.add(settle))
        count += 1
        if (signal?.aborted === true) settle(false)
      })
    },
    async close() {
      clearInterval(timer)
      for (const resolvers of waiting.values()) for (const resolve of resolvers) resolve(false)
      await listening.then(({ unlisten }) => unlisten()).catch(() => {})
    },
  }
}
