// Which slots are not clear yet: something of an earlier run is still being killed or removed there.
// Most of what a run leaves is gone before it has settled; here is what takes longer than its verdict may.
import type { Slot } from '#contract'

export interface Clearings {
  /** Null for a slot that is clear; else resolves once it is, and rejects if it never will be. */
  of(slot: Slot): Promise<void> | null
  /** The slot is not clear before this has resolved, and never if it rejects. */
  hold(slot: Slot, cleared: Promise<void>): void
  /** Resolves when nothing is being cleared any more. */
  settled(): Promise<void>
}

export function createClearings(): Clearings {
  const clearings = new Map<Slot, Promise<void>>()
  return {
    of: (slot) => clearings.get(slot) ?? null,
    hold(slot, cleared) {
      const earlier = clearings.get(slot)
      const clear = async (): Promise<void> => {
        await Promise.all([earlier, cleared])
        if (clearings.get(slot) === whole) clearings.delete(slot)
      }
      const whole = clear()
      clearings.set(slot, whole)
      // Who takes the slot back hears of it.
      whole.catch(() => {})
    },
    async settled() {
      await Promise.allSettled(clearings.values())
    },
  }
}
