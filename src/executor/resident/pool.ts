// Keeps a fixed number of residents (process.ts), one per position, and lends each to one request at a time. An old resident
// serves until its successor is ready. After residents that ended early, the next one starts with a growing delay. A caller
// gets null when no resident is free in time.
import { setTimeout as delay } from 'node:timers/promises'
import { backOff } from '#back-off'
import type { PhaseLimits } from '#contract'
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
    limits: PhaseLimits,
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
  readonly seconds: number
  /** Peak memory of one exchange. */
  readonly memoryBytes: number
}

interface Member {
  readonly resident: Resident
  readonly bornMilliseconds: number
  /** Resolves when its successor must start. */
  readonly isOld: PromiseWithResolvers<void>
  served: number
  isBusy: boolean
  /** True when it is not lent any more; it is ended as soon as it is free. */
  isRetired: boolean
}

/** Longest wait for a free resident; most answers take a tenth of this. */
const patienceMilliseconds = 100

/** If a resident ends after fewer exchanges, the next start waits, because starts cost CPU time that others need. */
const provenExchanges = 20
const pauseSeconds = { first: 1, longest: 60 }

/**
 * Opens a pool of residents.
 * @param start starts a resident: the n-th, at this position, from 0 on. A successor is started while the old one lives.
 * @param onFailure called with the error of a failed start; the pool then tries again.
 */
export function keepResidents(
  count: number,
  start: (serial: number, position: number, signal: AbortSignal) => Promise<Resident>,
  retirement: Retirement,
  onFailure: (error: unknown) => void,
): ResidentPool {
  const closing = new AbortController()
  const members = new Set<Member>()
  const waiters = new Map<(member: Member) => void, number>()
  let started = 0

  /** Takes a free resident. Null when none is free in time; null at once when there are no residents. */
  async function checkOut(used: number): Promise<Member | null> {
    const free = [...members].find(({ isBusy, isRetired }) => !isBusy && !isRetired)
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

  /** Returns a resident: it goes to the waiting request whose caller has used least, or stays free. */
  function checkIn(member: Member): void {
    member.isBusy = false
    if (member.isRetired) return member.resident.end()
    const [first] = [...waiters].toSorted(([, one], [, other]) => one - other)
    if (first === undefined) return
    const [lend] = first
    waiters.delete(lend)
    member.isBusy = true
    lend(member)
  }

  async function startNext(position: number, current: Member | null): Promise<Member> {
    const resident = await start((started += 1), position, closing.signal)
    // The pool may have closed during the start, and its `close` does not know this resident.
    if (closing.signal.aborted) resident.end()
    const bornMilliseconds = performance.now()
    const isOld = Promise.withResolvers<void>()
    const next = { resident, bornMilliseconds, isOld, served: 0, isBusy: true, isRetired: false }
    members.add(next)
    const forget = (): void => void members.delete(next)
    resident.ended.then(forget, forget)
    if (current !== null) current.isRetired = true
    if (current?.isBusy === false) current.resident.end()
    checkIn(next)
    return next
  }

  /**
   * Keeps one position filled. Resolves when the pool is closed.
   * @param onFirst called when the first resident is ready or has failed to start.
   */
  async function keepPosition(position: number, onFirst: () => void): Promise<void> {
    let current: Member | null = null
    let failures = 0
    while (!closing.signal.aborted) {
      try {
        current = await startNext(position, current)
        onFirst()
        await Promise.race([current.resident.ended, current.isOld.promise])
        failures = current.served < provenExchanges ? failures + 1 : 0
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

  function isDue({ served, bornMilliseconds }: Member, { usage }: Exchange): boolean {
    return (
      served >= retirement.exchanges ||
      performance.now() - bornMilliseconds >= retirement.seconds * 1000 ||
      usage.memoryPeakBytes >= retirement.memoryBytes
    )
  }

  const firsts = Array.from({ length: count }, () => Promise.withResolvers<void>())
  const positions = firsts.map(({ resolve }, position) => keepPosition(position, resolve))
  return {
    async ask(request, limits, accept, signal, { onLent, used = 0 } = {}) {
      signal.throwIfAborted()
      const member = await checkOut(used)
      if (member === null) return null
      // A request that was cancelled while it waited has done nothing to the resident.
      if (signal.aborted) checkIn(member)
      signal.throwIfAborted()
      onLent?.()
      const { resident } = member
      const abort = (): void => resident.end()
      signal.addEventListener('abort', abort)
      try {
        const exchange = await resident.exchange(request, limits)
        signal.throwIfAborted()
        member.served += 1
        const accepted = exchange && accept(exchange)
        if (exchange === null || accepted === null) member.isRetired = true
        else if (isDue(member, exchange)) member.isOld.resolve()
        return accepted
      } catch {
        member.isRetired = true
        signal.throwIfAborted()
        return null
      } finally {
        signal.removeEventListener('abort', abort)
        checkIn(member)
      }
    },
    async settled() {
      await Promise.all(firsts.map(({ promise }) => promise))
    },
    async close() {
      closing.abort()
      for (const { resident } of members) resident.end()
      await Promise.allSettled([...members].map(({ resident }) => resident.ended))
      await Promise.allSettled(positions)
    },
  }
}
