// Waits for submissions' ends: one LISTEN connection per process, and a map from id to waiters.
//
// Each process hears ends, with the record, on its own channel. Its name is secret, as whoever knows it can listen:
// only the LISTEN statement and runledger.pending hold it.
//
// Notifications get lost while LISTEN reconnects, so waited-for ids are also looked up once a second and whenever
// LISTEN begins.
//
// A waited-for submission is on disk only with its end (sql/functions/receive.sql): a crash can forget it.
import { randomBytes } from 'node:crypto'
import type { Database } from '#database'
import { parseNotification } from './record.ts'
import type { TrackedResult } from './schema.ts'

interface WaitOutcome {
  /** False: the time is up, the signal fired, or no such submission was stored in time. */
  readonly isFinal: boolean
  /** Left out: it must be read. */
  readonly record?: TrackedResult
}

export interface Waiter {
  /**
   * Resolves at the end, at the time, by the signal, or when no such submission was stored in time. Call it before
   * reading the state; without a record, read again.
   * @param seconds at most.
   */
  wait(id: string, seconds: number, signal?: AbortSignal): Promise<WaitOutcome>
  /** Ends what waits for a submission that was not stored. */
  forget(id: string): void
  /** Where this process hears ends. A secret: whoever knows it can listen. */
  readonly channel: string
  readonly waiting: number
  /** Wakes every waiter, without a result, and ends the connection. */
  close(): Promise<void>
}

type Wake = (outcome: WaitOutcome) => void

const inVain: WaitOutcome = { isFinal: false }

/** Look-ups and unreadable messages fail here; the next second looks again. */
type OnWaiterError = (error: unknown) => void

const lookupIntervalMilliseconds = 1000
/** Stored by then or never: the statement that stores is given up after two seconds. */
const storedMilliseconds = 6000

/** Retries while the database is away. */
export function createWaiter(sql: Database, onError: OnWaiterError): Waiter {
  /** By submission id. */
  const waiting = new Map<string, { readonly since: number; readonly who: Set<Wake> }>()
  let count = 0

  const channel = `runledger_${randomBytes(16).toString('hex')}`
  const wake = (id: string, outcome: WaitOutcome): void => {
    for (const resolve of waiting.get(id)?.who ?? []) resolve(outcome)
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
      if (isFinal || askedAt - since > storedMilliseconds) wake(id, { isFinal })
    }
  }
  let lookingUp = false
  const lookUpOnce = (): void => {
    if (lookingUp) return
    lookingUp = true
    void lookUp()
      .catch(onError)
      .finally(() => {
        lookingUp = false
      })
  }
  const hear = (text: string): void => {
    try {
      const { id, ...notification } = parseNotification(text)
      wake(id, { isFinal: true, ...notification })
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
      return count
    },
    wait(id, seconds, signal) {
      return new Promise((resolve) => {
        const settle = (outcome: WaitOutcome): void => {
          clearTimeout(timeout)
          signal?.removeEventListener('abort', onAbort)
          const others = waiting.get(id)?.who
          if (others?.delete(settle) === true) count -= 1
          if (others?.size === 0) waiting.delete(id)
          resolve(outcome)
        }
        const onAbort = (): void => settle(inVain)
        const timeout = setTimeout(settle, seconds * 1000, inVain)
        signal?.addEventListener('abort', onAbort)
        const entry = waiting.get(id) ?? { since: performance.now(), who: new Set() }
        waiting.set(id, entry)
        entry.who.add(settle)
        count += 1
        if (signal?.aborted === true) settle(inVain)
      })
    },
    forget: (id) => wake(id, inVain),
    async close() {
      clearInterval(timer)
      for (const { who } of waiting.values()) for (const resolve of who) resolve(inVain)
      await listening.then(({ unlisten }) => unlisten()).catch(() => {})
    },
  }
}
