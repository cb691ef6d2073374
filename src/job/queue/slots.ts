// Bounds how much work runs at once. Work that comes later waits in the order of arrival.

/** What happens to work that finds no slot in time. */
interface Late {
  readonly milliseconds: number
  /** Called in place of the work. */
  readonly giveUp: () => Promise<void>
}

/** Runs `work` when one of the slots is free. Without `late` it waits as long as that takes. */
type InSlot = (work: () => Promise<void>, late?: Late) => Promise<void>

export function createSlots(count: number): InSlot {
  const waiting = new Set<() => void>()
  let free = count

  /** Resolves with true when a slot is taken; with false when none was free in time. */
  function take(milliseconds?: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const next = (): void => resolve(true)
    waiting.add(next)
    if (milliseconds === undefined) return promise
    const timer = setTimeout(() => {
      waiting.delete(next)
      resolve(false)
    }, milliseconds)
    return promise.finally(() => clearTimeout(timer))
  }

  return async (work, late) => {
    if (free > 0) free -= 1
    else if (!(await take(late?.milliseconds))) return late?.giveUp()
    try {
      await work()
    } finally {
      // The slot is handed on directly, so that new work cannot overtake waiting work.
      const [next] = waiting
      if (next === undefined) free += 1
      else {
        waiting.delete(next)
        next()
      }
    }
  }
}
