// Work that goes on only while the page is visible.

/**
 * Works while the page is visible: aborts the work when the page is hidden, and restarts it when the page is shown again.
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
