// Waits for submissions to end: one LISTEN connection per process, and a map from id to waiters.
//
// Each process is notified of ends, with the record, on a separate channel. The channel's name is secret, because anybody
// who knows it can listen. Only the LISTEN statement and runledger.pending hold it.
//
// Notifications get lost while LISTEN reconnects, so awaited ids are also looked up once a second and whenever LISTEN
// starts.
//
// A submission whose caller waits is on disk only once it has ended (sql/functions/receive.sql), so a crash can lose it.
import { randomBytes } from 'node:crypto'
import type { Database } from '#database'
import { parseNotification } from './record.ts'
import type { TrackedResult } from './schema.ts'

export interface Waiter {
  /**
   * Resolves when the submission ends, when the time is up, when the signal fires, or when no such submission was stored in
   * time. Call it before reading the state.
   * @param seconds how long to wait at most.
   * @returns the final record if the notification has it; otherwise the caller must read the record.
   */
  wait(id: string, seconds: number, signal?: AbortSignal): Promise<TrackedResult | undefined>
  /** Ends the waits for a submission that was not stored. */
  forget(id: string): void
  /** The channel on which this process is notified of ends. Secret, because anybody who knows it can listen. */
  readonly channel: string
  readonly waiting: number
  /** Wakes every waiter, without a result, and ends the connection. */
  close(): Promise<void>
}

type Wake = (record?: TrackedResult) => void

const lookupIntervalMilliseconds = 1000
/** A submission is stored by then or never, because the statement that stores it is abandoned after two seconds. */
const storedMilliseconds = 6000

/**
 * Creates a process's waiter. It retries while the database is unavailable.
 * @param onError called when a look-up fails or a message cannot be read. The look-up of the next second tries again.
 */
export function createWaiter(sql: Database, onError: (error: unknown) => void): Waiter {
  /** By submission id. */
  const waiting = new Map<string, { readonly since: number; readonly who: Set<Wake> }>()

  const channel = `runledger_${randomBytes(16).toString('hex')}`
  const wake = (id: string, record?: TrackedResult): void => {
    for (const resolve of waiting.get(id)?.who ?? []) resolve(record)
  }
  const lookUp = async (): Promise<void> => {
    if (waiting.size === 0) return
    const askedAt = performance.now()
    const rows = await sql<{ id: string; is_final: boolean }[]>`
      select asked.id, r.id is not null as is_final
      from unnest(${[...waiting.keys()]}::uuid[]) asked (id)
      left join runledger.result r using (id)
      where r.id is not null or not exists (select from runledger.event where stream_id = asked.id)
      order by r.finished_at`
    for (const { id, is_final: isFinal } of rows) {
      const since = waiting.get(id)?.since ?? askedAt
      if (isFinal || askedAt - since > storedMilliseconds) wake(id)
    }
  }
  let lookingUp = false
  const lookUpOnce = (): void => {
    if (lookingUp) return
    lookingUp = true
    void lookUp()
      .catch(onError)
      .finally(() => (lookingUp = false))
  }
  const hear = (text: string): void => {
    try {
      const { id, record } = parseNotification(text)
      wake(id, record)
    } catch (error) {
      onError(error)
    }
  }
  const listening = sql.listen(channel, hear, lookUpOnce)
  listening.catch(onError)
  const timer = setInterval(lookUpOnce, lookupIntervalMilliseconds)

  return {
    channel,
    get waiting() {
      return waiting.values().reduce((sum, { who }) => sum + who.size, 0)
    },
    wait(id, seconds, signal) {
      return new Promise((resolve) => {
        const settle: Wake = (record) => {
          clearTimeout(timeout)
          signal?.removeEventListener('abort', giveUp)
          const others = waiting.get(id)?.who
          others?.delete(settle)
          if (others?.size === 0) waiting.delete(id)
          resolve(record)
        }
        const giveUp = (): void => settle()
        const timeout = setTimeout(giveUp, seconds * 1000)
        signal?.addEventListener('abort', giveUp)
        const entry = waiting.get(id) ?? { since: performance.now(), who: new Set() }
        waiting.set(id, entry)
        entry.who.add(settle)
        if (signal?.aborted === true) giveUp()
      })
    },
    forget: wake,
    async close() {
      clearInterval(timer)
      for (const id of waiting.keys()) wake(id)
      await listening.then(({ unlisten }) => unlisten()).catch(() => {})
    },
  }
}
