// Bounds how much work runs at once. Work that comes later waits in the order of arrival.

/** Runs `work` when one of the slots is free. */
type InSlot = (work: () => Promise<void>) => Promise<void>

export function createSlots(count: number): InSlot {
  const waiting: (() => void)[] = []
  let free = count
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      await work()
    } finally {
      // The slot is handed on directly, so that new work cannot overtake waiting work.
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
