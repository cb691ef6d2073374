// What the browser shows of the page: its frames, and whether anybody looks.

export interface Batch {
  /** Draws with the next frame, however often it is asked for. */
  request(): void
  /** What was asked for and not drawn yet never is. */
  stop(): void
}

export function createBatch(draw: () => void): Batch {
  let frame: number | null = null
  return {
    request() {
      frame ??= requestAnimationFrame(() => {
        frame = null
        draw()
      })
    },
    stop() {
      if (frame !== null) cancelAnimationFrame(frame)
      frame = null
    },
  }
}

/**
 * Works while the page is looked at: aborted when it is hidden, and started again when it shows again.
 * @throws what the work throws, and the signal's reason.
 */
export async function whileVisible<T>(
  signal: AbortSignal,
  work: (shown: AbortSignal) => Promise<T>,
): Promise<T> {
  for (;;) {
    await becomeVisible(signal)
    const hidden = new AbortController()
    const look = (): void => {
      if (document.visibilityState === 'hidden') hidden.abort()
    }
    document.addEventListener('visibilitychange', look)
    try {
      return await work(AbortSignal.any([signal, hidden.signal]))
    } catch (error) {
      if (signal.aborted || !hidden.signal.aborted) throw error
    } finally {
      document.removeEventListener('visibilitychange', look)
    }
  }
}

function becomeVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (!signal.aborted && document.visibilityState === 'hidden') return
      document.removeEventListener('visibilitychange', look)
      signal.removeEventListener('abort', look)
      if (signal.aborted) reject(signal.reason as Error)
      else resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
    look()
  })
}
