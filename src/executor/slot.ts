// Lends out a fixed number of slots, first come first served, and takes one out of service that cannot be trusted.
import { SandboxError } from '#contract'
import type { Slot } from '#contract'

export interface SlotPool {
  /** Every slot that there was at the start. */
  readonly all: readonly Slot[]
  /** Slots in service. */
  count(): number
  /**
   * Waits for a free slot.
   * @param ahead true for a request that lost its slot by no fault of its own: it is served before all others.
   * @throws {SandboxError} when none is left in service; the signal's reason when aborted.
   */
  acquire(signal?: AbortSignal, ahead?: boolean): Promise<Slot>
  release(slot: Slot): void
  /** The slot that has been free for longest in exchange for this one, which is clear; itself when none is free. */
  exchange(slot: Slot): Slot
  /** Never lends this slot again: something of an earlier run may still be in it. */
  quarantine(slot: Slot): void
}

interface Waiter {
  resolve(slot: Slot): void
  reject(error: unknown): void
}

function exhausted(): SandboxError {
  return new SandboxError('slot.acquire', 'every slot is quarantined; restart the worker')
}

/** @param firstUid null when every slot runs as the worker's own user. */
export function createSlotPool(count: number, firstUid: number | null): SlotPool {
  const all: readonly Slot[] = Array.from({ length: count }, (_, index) => ({
    index,
    uid: firstUid === null ? null : firstUid + index,
  }))
  const free = [...all]
  const waiters: Waiter[] = []
  let inService = count
  return {
    all,
    count: () => inService,
    async acquire(signal, ahead = false) {
      signal?.throwIfAborted()
      if (inService === 0) throw exhausted()
      const slot = free.shift()
      if (slot !== undefined) return slot
      const { promise, resolve, reject } = Promise.withResolvers<Slot>()
      const waiter = { resolve, reject }
      if (ahead) waiters.unshift(waiter)
      else waiters.push(waiter)
      const abort = (): void => {
        const index = waiters.indexOf(waiter)
        if (index < 0) return
        waiters.splice(index, 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort)
      return promise.finally(() => signal?.removeEventListener('abort', abort))
    },
    release(slot) {
      const waiter = waiters.shift()
      if (waiter === undefined) free.push(slot)
      else waiter.resolve(slot)
    },
    exchange(slot) {
      // Last first: without another one it gets itself.
      free.push(slot)
      return free.shift() ?? slot
    },
    quarantine() {
      inService -= 1
      if (inService > 0) return
      for (const waiter of waiters.splice(0)) waiter.reject(exhausted())
    },
  }
}
