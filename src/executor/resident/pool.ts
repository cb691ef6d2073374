// Keeps a fixed number of residents (process.ts), and lends each to one request at a time. A resident that is old or has failed
// is replaced; after residents that ended early, the next one starts with a growing delay. A caller gets null when no resident
// is free in time.
import { setTimeout as delay } from 'node:timers/promises'
import { backOff } from '#back-off'
import type { Exchange, Resident } from './process.ts'

export interface ResidentPool {
  /**
   * Sends a request to a resident. Returns null when none is free in time, or when the answer is refused; that resident is
   * replaced.
   * @param accept reads the answer; null or an exception refuses it.
   * @param options.onLent called when a resident is lent to the request.
   * @param options.used what the caller has used; of those that wait, the lowest comes first. 0 by default.
   * @throws the signal's reason when aborted.
   */
  ask<T>(
    request: Uint8Array,
    seconds: number,
    accept: (exchange: Exchange) => T | null,
    signal: AbortSignal,
    options?: { readonly onLent?: () => void; readonly used?: number },
  ): Promise<T | null>
  /** Resolves when each position has had a resident or a failed start. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** The limits at which a fresh resident replaces an old one. */
export interface Retirement {
  readonly exchanges: number
  /** Memory after an exchange. */
  readonly memoryBytes: number
}

interface Member {
  readonly resident: Resident
  served: number
  isBusy: boolean
}

/** Longest wait for a free resident; most answers take a tenth of this. */
const patienceMilliseconds = 100

/** If a resident ends after fewer exchanges, the next start waits, because starts cost CPU time that others need. */
const provenExchanges = 20
const pauseSeconds = { first: 1, longest: 60 }

/**
 * Opens a pool of residents.
 * @param start starts the next resident at a position, from 0 on, when nothing is left of the one before it.
 * @param onFailure called with the error of a failed start; the pool then tries again.
 */
export function keepResidents(
  count: number,
  start: (position: number, signal: AbortSignal) => Promise<Resident>,
  retirement: Retirement,
  onFailure: (error: unknown) => void,
): ResidentPool {
  const closing = new AbortController()
  const members = new Set<Member>()
  const waiters = new Map<(member: Member) => void, number>()

  /** Takes a free resident. Null when none is free in time; null at once when there are no residents. */
  async function checkOut(used: number): Promise<Member | null> {
    const free = [...members].find(({ isBusy }) => !isBusy)
    if (free !== undefined) free.isBusy = true
    if (free !== undefined || members.size === 0) return free ?? null
    const { promise, resolve } = Promise.withResolvers<Member | null>()
    waiters.set(resolve, used)
    const giveUp = (): void => {
      waiters.delete(resolve)
      resolve(null)
    }
    const timer = setTimeout(giveUp, patienceMilliseconds)
    return promise.finally(() => clearTimeout(timer))
  }

  /** Gives a resident to the waiting request whose caller has used least, or leaves it free. */
  function lend(member: Member): void {
    const [first] = [...waiters].toSorted(([, one], [, other]) => one - other)
    member.isBusy = first !== undefined
    if (first === undefined) return
    const [take] = first
    waiters.delete(take)
    take(member)
  }

  /** Lends a resident until it has ended. @returns how many requests it has answered. */
  async function serve(resident: Resident): Promise<number> {
    const member = { resident, served: 0, isBusy: true }
    members.add(member)
    // The pool may have been closed during the start.
    if (closing.signal.aborted) resident.end()
    else lend(member)
    try {
      await resident.ended
    } finally {
      members.delete(member)
    }
    return member.served
  }

  /**
   * Keeps one position filled. Resolves when the pool is closed.
   * @param onFirst called when the first resident is ready or has failed to start.
   */
  async function keepPosition(position: number, onFirst: () => void): Promise<void> {
    let failures = 0
    while (!closing.signal.aborted) {
      try {
        const resident = await start(position, closing.signal)
        const serving = serve(resident)
        onFirst()
        failures = (await serving) < provenExchanges ? failures + 1 : 0
      } catch (error) {
        failures += 1
        onFirst()
        if (!closing.signal.aborted) onFailure(error)
      }
      if (failures === 0) continue
      const milliseconds = backOff(failures, pauseSeconds) * 1000
      await delay(milliseconds, undefined, { signal: closing.signal, ref: false }).catch(() => {})
    }
  }

  const isOld = ({ served }: Member, { usage }: Exchange): boolean =>
    served >= retirement.exchanges || usage.memoryPeakBytes >= retirement.memoryBytes

  const firsts = Array.from({ length: count }, () => Promise.withResolvers<void>())
  const positions = firsts.map(({ resolve }, position) => keepPosition(position, resolve))
  return {
    async ask(request, seconds, accept, signal, { onLent, used = 0 } = {}) {
      signal.throwIfAborted()
      const member = await checkOut(used)
      if (member === null) return null
      // A request that was cancelled while it waited has done nothing to the resident.
      if (signal.aborted) lend(member)
      signal.throwIfAborted()
      onLent?.()
      const { resident } = member
      const end = (): void => resident.end()
      signal.addEventListener('abort', end)
      let isUsable = false
      try {
        const exchange = await resident.exchange(request, seconds)
        signal.throwIfAborted()
        member.served += 1
        const accepted = exchange && accept(exchange)
        isUsable = exchange !== null && accepted !== null && !isOld(member, exchange)
        return accepted
      } catch {
        signal.throwIfAborted()
        return null
      } finally {
        signal.removeEventListener('abort', end)
        if (isUsable) lend(member)
        else end()
      }
    },
    async settled() {
      await Promise.all(firsts.map(({ promise }) => promise))
    },
    async close() {
      closing.abort()
      for (const { resident } of members) resident.end()
      await Promise.allSettled(positions)
    },
  }
}
