// Waiting for a submission's end: one LISTEN connection for the whole process and a map from id to who waits.
//
// No answer depends on a notification alone: it can be lost while LISTEN reconnects. So the ids that are waited for are
// looked up together once a second, and at once when LISTEN is (re-)established. A waiter itself holds no connection.
//
// What is waited for may also vanish: a submission that is waited for is on disk only with its end (receive-submission.sql),
// so that a crash of the server can forget it.
import type { Database } from '#database'

export interface Waiter {
  /**
   * Resolves true when the submission is final, false when the time is up, the signal fires, or there is no such
   * submission though it has been waited for longer than it takes to store one.
   * Call it before reading the state, and read the state after it resolves.
   * @param seconds how long to wait at most.
   */
  wait(id: string, seconds: number, signal?: AbortSignal): Promise<boolean>
  /** How many wait now. */
  readonly waiting: number
  /** Wakes everybody (with false) and ends the connection. */
  close(): Promise<void>
}

type Wake = (final: boolean) => void

/** What to do when a look-up of waited ids fails; the next second tries again. */
export type OnWaiterError = (error: unknown) => void

const lookupIntervalMilliseconds = 1000
/** What is not there then will not come: storing is tried twice and asking for the key once, for two seconds each. */
const storedMilliseconds = 6000

/** Starts listening. Resolves at once: a database that is away now is tried until it is back. */
export function createWaiter(sql: Database, onError: OnWaiterError): Waiter {
  /** Who waits for each id, and since when that has been waited for. */
  const waiting = new Map<string, { readonly since: number; readonly who: Set<Wake> }>()
  let count = 0

  const wake = (id: string, final = true): void => {
    for (const resolve of waiting.get(id)?.who ?? []) resolve(final)
  }
  const lookUp = async (): Promise<void> => {
    if (waiting.size === 0) return
    const askedAt = performance.now()
    const rows = await sql`
      select asked.id, r.id is not null as is_final
      from unnest(${[...waiting.keys()]}::uuid[]) asked (id)
      left join runledger.result r using (id)
      where r.finished_at is not null
        or r.id is null and not exists (select from runledger.event where stream_id = asked.id)`
    for (const row of rows) {
      const [id, isFinal] = [row['id'] as string, row['is_final'] as boolean]
      const since = waiting.get(id)?.since ?? askedAt
      if (isFinal || askedAt - since > storedMilliseconds) wake(id, isFinal)
    }
  }
  const listening = sql.listen(
    'submission_finished',
    (id) => wake(id),
    () => void lookUp().catch(onError),
  )
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
          const others = waiting.get(id)?.who
          if (others?.delete(settle) === true) count -= 1
          if (others?.size === 0) waiting.delete(id)
          resolve(final)
        }
        const onAbort = (): void => settle(false)
        const timeout = setTimeout(settle, seconds * 1000, false)
        signal?.addEventListener('abort', onAbort)
        const entry = waiting.get(id) ?? { since: performance.now(), who: new Set() }
        waiting.set(id, entry)
        entry.who.add(settle)
        count += 1
        if (signal?.aborted === true) settle(false)
      })
    },
    async close() {
      clearInterval(timer)
      for (const { who } of waiting.values()) for (const resolve of who) resolve(false)
      await listening.then(({ unlisten }) => unlisten()).catch(() => {})
    },
  }
}
