// Keeps residents (process.ts) ready: starts, lends (lending.ts) and replaces them (succession.ts). Callers go on
// without one that is not free in time.
import type { PhaseLimits } from '#contract'
import { createLending } from './lending.ts'
import type { Lending, Member } from './lending.ts'
import type { Exchange, Resident } from './process.ts'
import { holdPlace } from './succession.ts'

export interface ResidentPool {
  /**
   * Null when none is free in time or its answer is refused; that one is replaced.
   * @param onLent called when there is one.
   * @param accept reads the answer; null or an exception refuses it.
   * @throws the signal's reason when aborted.
   */
  ask<T>(
    request: Uint8Array,
    limits: PhaseLimits,
    accept: (exchange: Exchange) => T | null,
    signal: AbortSignal,
    onLent?: () => void,
  ): Promise<T | null>
  /** Resolves when each place has had a resident, or a failed start. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** When a fresh resident takes an old one's place. */
export interface Retirement {
  readonly exchanges: number
  readonly seconds: number
  /** Peak of one exchange. */
  readonly memoryBytes: number
}

/**
 * @param start makes the n-th resident.
 * @param onFailure hears why a start failed; others follow.
 */
export function keepResidents(
  count: number,
  start: (serial: number, signal: AbortSignal) => Promise<Resident>,
  retirement: Retirement,
  onFailure: (error: unknown) => void,
): ResidentPool {
  const closing = new AbortController()
  const lending = createLending()
  let started = 0
  const firsts = Array.from({ length: count }, () => Promise.withResolvers<void>())
  const places = firsts.map(({ resolve }) =>
    holdPlace({
      start: (signal) => start((started += 1), signal),
      lending,
      closing: closing.signal,
      onFailure,
      onFirst: resolve,
    }),
  )
  return {
    ask: (...question) => ask(lending, retirement, ...question),
    async settled() {
      await Promise.all(firsts.map(({ promise }) => promise))
    },
    async close() {
      closing.abort()
      await lending.endAll()
      await Promise.allSettled(places)
    },
  }
}

async function ask<T>(
  lending: Lending,
  retirement: Retirement,
  request: Uint8Array,
  limits: PhaseLimits,
  accept: (exchange: Exchange) => T | null,
  signal: AbortSignal,
  onLent?: () => void,
): Promise<T | null> {
  signal.throwIfAborted()
  const member = await lending.take()
  if (member === null) return null
  onLent?.()
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
    if (isTired(member, exchange, retirement)) member.tired.resolve()
    return accepted
  } catch {
    member.isRetired = true
    signal.throwIfAborted()
    return null
  } finally {
    signal.removeEventListener('abort', abort)
    lending.offer(member)
  }
}

function isTired(member: Member, { usage }: Exchange, retirement: Retirement): boolean {
  return (
    member.served >= retirement.exchanges ||
    performance.now() / 1000 - member.bornSeconds >= retirement.seconds ||
    usage.memoryPeakBytes >= retirement.memoryBytes
  )
}
