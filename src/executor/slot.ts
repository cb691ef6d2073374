// Lends out slots, first come first served, and takes one out of service that cannot be trusted. There may be more than are lent
// at once: the spare ones run programs while what was left is cleared away and the next box made.
import { SandboxError } from '#contract'
import type { Slot } from '#contract'

export interface SlotPool {
  /** Every slot that there was at the start, spare ones too. */
  readonly all: readonly Slot[]
  /** Slots that can be lent at once. */
  count(): number
  /**
   * Waits for a free slot: the one that has been free for longest.
   * @param ahead true for a request that lost its slot by no fault of its own: it is served before all others.
   * @throws {SandboxError} when none is left in service; the signal's reason when aborted.
   */
  acquire(signal?: AbortSignal, ahead?: boolean): Promise<Slot>
  /**
   * Ends a loan.
   * @param clearing null for a slot that is clear. Until it has resolved the slot is lent to nobody; if it rejects, never again:
   * something of an earlier run may still be in it.
   * @throws what `clearing` rejects with.
   */
  giveBack(slot: Slot, clearing: Promise<void> | null): Promise<void>
  /** The slot that has been free for longest in exchange for this one, which is clear; itself when none is free. */
  exchange(slot: Slot): Slot
}

function exhausted(): SandboxError {
  return new SandboxError('slot.acquire', 'every slot is quarantined; restart the worker')
}

/** Those that a worker has. One for two slots is an eighth more of short programs; two for two are as many (measured). */
export function countSpares(slots: number): number {
  return Math.ceil(slots / 2)
}

/**
 * @param atOnce how many are lent at once.
 * @param firstUid null when every slot runs as the worker's own user.
 * @param spares how many there are beside those.
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
    async acquire(signal, ahead = false) {
      signal?.throwIfAborted()
      if (inService === 0) throw exhausted()
      const slot = lend()
      if (slot !== undefined) return slot
      const waiter = Promise.withResolvers<Slot>()
      if (ahead) waiters.unshift(waiter)
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
    async giveBack(slot, clearing) {
      lent -= 1
      if (clearing !== null) {
        // A spare one takes its place meanwhile.
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
      // Last first: without another one it gets itself.
      free.push(slot)
      return free.shift() ?? slot
    },
  }
}
