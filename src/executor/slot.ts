// Lends slots, first come first served, and takes a slot that cannot be cleared out of service. There may be more slots than
// are lent at once: the spare slots run programs while other slots are cleared and get their next box.
import { SandboxError } from '#contract'
import type { Slot } from '#contract'

export { claimUids } from './uid-range.ts'
export type { UidRange } from './uid-range.ts'

export interface SlotPool {
  /** All slots, spare and quarantined ones included. */
  readonly all: readonly Slot[]
  /** Returns the number of slots that can be lent at once. */
  count(): number
  /**
   * Waits for a free slot. Returns the one that has been free for longest.
   * @param isUrgent true for a request that lost its slot through no fault of its own: it is served before all others.
   * @throws {SandboxError} when no slot is left in service; the signal's reason when aborted.
   */
  acquire(signal?: AbortSignal, isUrgent?: boolean): Promise<Slot>
  /**
   * Ends a loan.
   * @param clearing null for a slot that is clear. The slot is lent again after `clearing` has resolved. If it rejects, the
   * slot is never lent again, because something of an earlier run may still be in it.
   * @throws what `clearing` rejects with.
   */
  release(slot: Slot, clearing: Promise<void> | null): Promise<void>
  /** Exchanges a clear slot for the one that has been free for longest. Returns the same slot when no other is free. */
  exchange(slot: Slot): Slot
}

function exhausted(): SandboxError {
  return new SandboxError('slot.acquire', 'every slot is quarantined; restart the worker')
}

/**
 * Returns a worker's number of spare slots. One for two slots gives an eighth more short programs; a second adds none
 * (measured).
 */
export function countSpares(slots: number): number {
  return Math.ceil(slots / 2)
}

/**
 * @param atOnce number of slots that are lent at once.
 * @param firstUid null when every slot runs as the worker's own user.
 * @param spares number of additional slots.
 */
export function createSlotPool(atOnce: number, firstUid: number | null, spares = 0): SlotPool {
  const count = atOnce + spares
  const all: readonly Slot[] = Array.from({ length: count }, (_, index) => ({
    index,
    uid: firstUid === null ? null : firstUid + index,
    interactorUid: firstUid === null ? null : firstUid + count + index,
  }))
  const free = [...all]
  const waiters: PromiseWithResolvers<Slot>[] = []
  let inService = all.length
  let lent = 0

  function lend(): Slot | undefined {
    const slot = lent < atOnce ? free.shift() : undefined
    if (slot !== undefined) lent += 1
    return slot
  }

  function serve(): void {
    while (waiters.length > 0) {
      const slot = lend()
      if (slot === undefined) return
      waiters.shift()?.resolve(slot)
    }
  }

  function quarantine(): void {
    inService -= 1
    if (inService > 0) return
    for (const waiter of waiters.splice(0)) waiter.reject(exhausted())
  }

  return {
    all,
    count: () => Math.min(atOnce, inService),
    async acquire(signal, isUrgent = false) {
      signal?.throwIfAborted()
      if (inService === 0) throw exhausted()
      const slot = lend()
      if (slot !== undefined) return slot
      const waiter = Promise.withResolvers<Slot>()
      if (isUrgent) waiters.unshift(waiter)
      else waiters.push(waiter)
      const abort = (): void => {
        const index = waiters.indexOf(waiter)
        if (index < 0) return
        waiters.splice(index, 1)
        waiter.reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort)
      return waiter.promise.finally(() => signal?.removeEventListener('abort', abort))
    },
    async release(slot, clearing) {
      lent -= 1
      if (clearing !== null) {
        // A spare slot can be lent while this one is cleared.
        serve()
        await clearing.catch((error: unknown) => {
          quarantine()
          throw error
        })
      }
      free.push(slot)
      serve()
    },
    exchange(slot) {
      // Added last, so that the caller gets it back when no other is free.
      free.push(slot)
      return free.shift() ?? slot
    },
  }
}
