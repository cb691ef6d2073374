// Knows which slots are not clear: something of an earlier run is still being killed or removed there. Most runs leave nothing
// behind when their promise settles. This is for the clearing that a verdict must not wait for.
import type { Slot } from '#contract'

/** Keeps a slot from being lent until the promise resolves. If the promise rejects, the slot is never lent again. */
export type Hold = (cleared: Promise<void>) => void

export interface Clearings {
  /** Null for a slot that is clear. Otherwise resolves when the slot is clear, and rejects if it cannot be cleared. */
  of(slot: Slot): Promise<void> | null
  holdFor(slot: Slot): Hold
  /** Resolves when no slot is being cleared any more. */
  settled(): Promise<void>
}

export function createClearings(): Clearings {
  const clearings = new Map<Slot, Promise<void>>()
  return {
    of: (slot) => clearings.get(slot) ?? null,
    holdFor: (slot) => (cleared) => {
      const earlier = clearings.get(slot)
      const clear = async (): Promise<void> => {
        await Promise.all([earlier, cleared])
        if (clearings.get(slot) === whole) clearings.delete(slot)
      }
      const whole = clear()
      clearings.set(slot, whole)
      // The rejection is handled by the callers of `of`.
      whole.catch(() => {})
    },
    async settled() {
      await Promise.allSettled(clearings.values())
    },
  }
}
