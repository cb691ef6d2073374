// How long a client waits before it retries. The console's page uses it too.

const shortestPauseMilliseconds = 250
const longestPauseMilliseconds = 5000

/** Returns milliseconds after so many failures, from 0. Varies by a fifth, so that clients that failed together spread out. */
export function backOff(tried: number): number {
  const exact = Math.min(shortestPauseMilliseconds * 2 ** tried, longestPauseMilliseconds)
  return exact * (0.8 + Math.random() * 0.4)
}

/** Waits. @throws the signal's reason. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, milliseconds)
    if (signal?.aborted === true) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
