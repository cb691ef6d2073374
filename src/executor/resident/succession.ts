// Fills one place of the pool until the pool closes. An old resident serves until its successor is ready; after one
// that died early the next starts later and later.
import { setTimeout as delay } from 'node:timers/promises'
import { backOff } from '#back-off'
import type { Lending, Member } from './lending.ts'
import type { Resident } from './process.ts'

export interface Succession {
  readonly start: (signal: AbortSignal) => Promise<Resident>
  readonly lending: Lending
  /** Aborted when the pool closes. */
  readonly closing: AbortSignal
  /** Hears why one did not start. */
  readonly onFailure: (error: unknown) => void
  /** Called when the first is up or has failed to start. */
  readonly onFirst: () => void
}

/** After fewer exchanges the next start waits, as starts cost CPU time that others need. */
const provenExchanges = 20
const pauseSeconds = { first: 1, longest: 60 }

/** Resolves when the pool is closed and none of its residents lives. */
export async function holdPlace(succession: Succession): Promise<void> {
  const { closing, onFailure, onFirst } = succession
  let current: Member | null = null
  let failures = 0
  while (!closing.aborted) {
    try {
      const next = await startNext(succession, current)
      current = next
      onFirst()
      await Promise.race([next.resident.ended, next.tired.promise])
      failures = next.served < provenExchanges ? failures + 1 : 0
    } catch (error) {
      failures += 1
      onFirst()
      if (!closing.aborted) onFailure(error)
    }
    if (failures > 0) await pause(failures, closing)
  }
}

async function startNext(
  { start, lending, closing }: Succession,
  current: Member | null,
): Promise<Member> {
  const resident = await start(closing)
  // The pool may have closed meanwhile; nobody else would end it.
  if (closing.aborted) resident.end()
  const next = lending.enlist(resident)
  if (current !== null) lending.retire(current)
  lending.offer(next)
  return next
}

async function pause(failures: number, closing: AbortSignal): Promise<void> {
  const seconds = backOff(failures, pauseSeconds)
  await delay(seconds * 1000, undefined, { signal: closing, ref: false }).catch(() => {})
}
