// Keeps residents (process.ts) ready: started in the background, lent to one request at a time, replaced when they end,
// and now and then so that none grows old. Whoever cannot have one in time is told so and does without.
import { setTimeout as delay } from 'node:timers/promises'
import { backOff } from '#back-off'
import type { PhaseLimits } from '#contract'
import type { Exchange, Resident } from './process.ts'

export interface ResidentPool {
  /**
   * Asks a resident. Null when none is free in time or its answer was not accepted: then it is ended and replaced.
   * @param accept reads the answer; null, or throwing, refuses it.
   * @throws the signal's reason when aborted.
   */
  ask<T>(
    request: Uint8Array,
    limits: PhaseLimits,
    accept: (exchange: Exchange) => T | null,
    signal: AbortSignal,
  ): Promise<T | null>
  /** Resolves when each place has its first resident, or has seen that it cannot have one yet. */
  settled(): Promise<void>
  /** Ends all of them. */
  close(): Promise<void>
}

/** When a resident has done enough and a fresh one takes its place. */
export interface Retirement {
  readonly exchanges: number
  readonly seconds: number
  /** A peak of memory in an exchange. */
  readonly memoryBytes: number
}

interface Member {
  readonly resident: Resident
  readonly bornSeconds: number
  readonly tired: PromiseWithResolvers<void>
  served: number
  isBusy: boolean
  isRetired: boolean
}

/** How long a request waits for a resident that is busy: most answers take a tenth of it. */
const patienceMilliseconds = 100
/** One that ended before so many exchanges does not come back at once: its start costs CPU time that others need. */
const provenExchanges = 20
const pauseSeconds = { first: 1, longest: 60 }

/**
 * @param start makes the n-th resident, ready to be asked.
 * @param onFailure hears why one did not start; starting is tried again.
 */
export function keepResidents(
  count: number,
  start: (serial: number, signal: AbortSignal) => Promise<Resident>,
  retirement: Retirement,
  onFailure: (error: unknown) => void,
): ResidentPool {
  const closing = new AbortController()
  const members = new Set<Member>()
  const waiters = new Set<(member: Member | null) => void>()
  let started = 0

  function offer(member: Member): void {
    member.isBusy = false
    if (member.isRetired) return member.resident.end()
    const [waiter] = waiters
    if (waiter === undefined) return
    member.isBusy = true
    waiter(member)
  }

  function take(): Promise<Member | null> {
    const free = [...members].find(({ isBusy, isRetired }) => !isBusy && !isRetired)
    if (free !== undefined) free.isBusy = true
    if (free !== undefined || members.size === 0) return Promise.resolve(free ?? null)
    return new Promise((resolve) => {
      const settle = (member: Member | null): void => {
        clearTimeout(timer)
        waiters.delete(settle)
        resolve(member)
      }
      const timer = setTimeout(settle, patienceMilliseconds, null)
      waiters.add(settle)
    })
  }

  /** Holds one place: a resident, its successor, and so on. Tells when the first is there, or is not. */
  async function keepPlace(settle: () => void): Promise<void> {
    let current: Member | null = null
    let failures = 0
    while (!closing.signal.aborted) {
      try {
        const resident = await start((started += 1), closing.signal)
        const next = enlist(resident)
        if (current !== null) retire(current)
        current = next
        offer(next)
        settle()
        await Promise.race([resident.ended, next.tired.promise])
        failures = next.served < provenExchanges ? failures + 1 : 0
      } catch (error) {
        failures += 1
        settle()
        if (!closing.signal.aborted) onFailure(error)
      }
      if (failures > 0) await pause(failures)
    }
  }

  async function pause(failures: number): Promise<void> {
    const seconds = backOff(failures, pauseSeconds)
    await delay(seconds * 1000, undefined, { signal: closing.signal, ref: false }).catch(() => {})
  }

  function enlist(resident: Resident): Member {
    const member: Member = {
      resident,
      bornSeconds: performance.now() / 1000,
      tired: Promise.withResolvers(),
      served: 0,
      isBusy: true,
      isRetired: false,
    }
    members.add(member)
    const forget = (): void => void members.delete(member)
    resident.ended.then(forget, forget)
    return member
  }

  function retire(member: Member): void {
    member.isRetired = true
    if (!member.isBusy) member.resident.end()
  }

  function isTired(member: Member, { usage }: Exchange): boolean {
    return (
      member.served >= retirement.exchanges ||
      performance.now() / 1000 - member.bornSeconds >= retirement.seconds ||
      usage.memoryPeakBytes >= retirement.memoryBytes
    )
  }

  const firsts = Array.from({ length: count }, () => Promise.withResolvers<void>())
  const places = firsts.map(({ resolve }) => keepPlace(resolve))

  return {
    async settled() {
      await Promise.all(firsts.map(({ promise }) => promise))
    },
    async ask(request, limits, accept, signal) {
      signal.throwIfAborted()
      const member = await take()
      if (member === null) return null
      const { resident } = member
      const abort = (): void => resident.end()
      signal.addEventListener('abort', abort)
      try {
        signal.throwIfAborted()
        const exchange = await resident.exchange(request, limits)
        signal.throwIfAborted()
        member.served += 1
        const accepted = exchange === null ? null : accept(exchange)
        if (exchange === null || accepted === null) {
          member.isRetired = true
          return null
        }
        if (isTired(member, exchange)) member.tired.resolve()
        return accepted
      } catch {
        member.isRetired = true
        signal.throwIfAborted()
        return null
      } finally {
        signal.removeEventListener('abort', abort)
        offer(member)
      }
    },
    async close() {
      closing.abort()
      for (const { resident } of members) resident.end()
      await Promise.allSettled([...members].map(({ resident }) => resident.ended))
      await Promise.allSettled(places)
    },
  }
}
