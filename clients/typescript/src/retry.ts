// How long a client waits before it tries again. The console's page does so too.

const shortestPauseMilliseconds = 250
const longestPauseMilliseconds = 5000

/** In milliseconds, from 0 failures on; a fifth more or less, so that clients that failed together come apart. */
export function backOff(tried: number): number {
  const exact = Math.min(shortestPauseMilliseconds * 2 ** tried, longestPauseMilliseconds)
  return exact * (0.8 + Math.random() * 0.4)
}

/** @throws the signal's reason. */
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
