// So many at once; whoever comes later waits in turn.

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
      // Handed on: nobody who comes now is before who has waited.
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
