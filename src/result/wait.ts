// Waiting for a submission's end: one LISTEN connection for the whole process and a map from id to who waits.
//
// Each process is told of ends on a channel of its own, and of the whole record, so that it need not ask. Whoever knows a
// channel's name can listen to it: this one is secret, and only the statement that listens and runledger.pending have it.
//
// No answer depends on a notification alone: it can be lost while LISTEN reconnects. So the ids that are waited for are
// looked up together once a second, and at once when LISTEN is (re-)established. A waiter itself holds no connection.
//
// What is waited for may also vanish: a submission that is waited for is on disk only with its end (receive-submission.sql),
// so that a crash of the server can forget it.
import { randomBytes } from 'node:crypto'
import type { Database } from '#database'
import { parseToldEnd } from './record.ts'
import type { TrackedResult } from './record.ts'

/** What a wait came to. */
export interface Waited {
  /** The submission is final; else the time is up, the signal fired, or there is none though it was waited for long. */
  readonly isFinal: boolean
  /** As it was told; without it, it is to be read. */
  readonly record?: TrackedResult
}

export interface Waiter {
  /**
   * Resolves when the submission is final, when the time is up, when the signal fires, or when there is no such submission
   * though it has been waited for longer than it takes to store one.
   * Call it before reading the state, and read the state after it resolves without a record.
   * @param seconds how long to wait at most.
   */
  wait(id: string, seconds: number, signal?: AbortSignal): Promise<Waited>
  /** Where this process is told of ends with their records. Whoever has the name can read them: it is a secret. */
  readonly channel: string
  /** How many wait now. */
  readonly waiting: number
  /** Wakes everybody, in vain, and ends the connection. */
  close(): Promise<void>
}

type Wake = (waited: Waited) => void

const inVain: Waited = { isFinal: false }

/** What to do when waited ids cannot be looked up, or a message cannot be read; the next second looks again. */
export type OnWaiterError = (error: unknown) => void

const lookupIntervalMilliseconds = 1000
/** What is not there then will not come: storing is tried twice and asking for the key once, for two seconds each. */
const storedMilliseconds = 6000

/** Starts listening. Resolves at once: a database that is away now is tried until it is back. */
export function createWaiter(sql: Database, onError: OnWaiterError): Waiter {
  /** Who waits for each id, and since when that has been waited for. */
  const waiting = new Map<string, { readonly since: number; readonly who: Set<Wake> }>()
  let count = 0

  const channel = `runledger_${randomBytes(16).toString('hex')}`
  const wake = (id: string, waited: Waited): void => {
    for (const resolve of waiting.get(id)?.who ?? []) resolve(waited)
  }
  const lookUp = async (): Promise<void> => {
    if (waiting.size === 0) return
    const askedAt = performance.now()
    const rows = await sql<{ id: string; is_final: boolean }[]>`
      select asked.id, r.id is not null as is_final
      from unnest(${[...waiting.keys()]}::uuid[]) asked (id)
      left join runledger.result r using (id)
      where r.finished_at is not null
        or r.id is null and not exists (select from runledger.event where stream_id = asked.id)`
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
      const { id, ...told } = parseToldEnd(text)
      wake(id, { isFinal: true, ...told })
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
        const settle = (waited: Waited): void => {
          clearTimeout(timeout)
          signal?.removeEventListener('abort', onAbort)
          const others = waiting.get(id)?.who
          if (others?.delete(settle) === true) count -= 1
          if (others?.size === 0) waiting.delete(id)
          resolve(waited)
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
    async close() {
      clearInterval(timer)
      for (const { who } of waiting.values()) for (const resolve of who) resolve(inVain)
      await listening.then(({ unlisten }) => unlisten()).catch(() => {})
    },
  }
}
