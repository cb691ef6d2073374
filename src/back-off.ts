// Repeats work: after pauses that grow (exponential back-off, each pause twice the previous one, up to a maximum), or at an
// interval.

/** Pauses; both values have the same unit of time, which the result has too. */
interface BackOff {
  /** The pause after the first failure. */
  readonly first: number
  readonly longest: number
}

/** Returns the pause after this many failures. @param failures in a row, from 1. */
export function backOff(failures: number, { first, longest }: BackOff): number {
  return Math.min(first * 2 ** (failures - 1), longest)
}

export interface Stoppable {
  stop(): Promise<void>
}

/**
 * Repeats work, one call at a time, so that a slow call delays the next one and calls do not pile up.
 * @param milliseconds from the end of one call to the start of the next.
 */
export function repeat(
  work: () => Promise<void>,
  milliseconds: number,
  onError: (error: unknown) => void,
): Stoppable & { hurry(): void } {
  let stopped = false
  let running = false
  let hurried = false
  let timer: NodeJS.Timeout | undefined
  let current = Promise.resolve()
  const start = (): void => {
    running = true
    hurried = false
    current = work()
      .catch(onError)
      .finally(() => {
        running = false
        if (!stopped) timer = setTimeout(start, hurried ? 0 : milliseconds)
      })
  }
  timer = setTimeout(start, milliseconds)
  return {
    /** Calls `work` now, or right after the current call. */
    hurry() {
      if (stopped) return
      hurried = true
      if (running) return
      clearTimeout(timer)
      timer = setTimeout(start)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await current
    },
  }
}
