// Waits that an abort signal or a timeout ends. Only the wait ends: the work goes on, because others may wait for it.

/** Settles as the work does, or rejects with the signal's reason when the signal fires first. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const refuse = (): void => reject(signal.reason)
  if (signal.aborted) refuse()
  signal.addEventListener('abort', refuse)
  work.then(resolve, reject)
  return promise.finally(() => signal.removeEventListener('abort', refuse))
}

/** Settles as the work does, but resolves with undefined when the work rejects with this signal's reason. */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (signal?.aborted !== true || error !== signal.reason) throw error
    return undefined
  }
}

/** Returns a signal that fires as soon as either signal does; `other` may be missing. */
export function eitherOf(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? signal : AbortSignal.any([signal, other])
}

/**
 * Runs the work with a signal that fires when the time is up or the parent fires, and settles as the work does. Unlike
 * AbortSignal.timeout, the timer keeps the process alive, and it is cleared when the work is over.
 * @param reason makes the signal's reason when the time is up.
 */
export async function withinSeconds<T>(
  work: (signal: AbortSignal) => Promise<T>,
  seconds: number,
  reason: () => Error,
  parent?: AbortSignal,
): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(reason()), seconds * 1000)
  try {
    return await work(eitherOf(controller.signal, parent))
  } finally {
    clearTimeout(timer)
  }
}
