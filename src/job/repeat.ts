// Repeats work, one call at a time, so that a slow call delays the next one and calls do not pile up.

export interface Stoppable {
  stop(): Promise<void>
}

/** @param milliseconds from the end of one call to the start of the next. */
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
