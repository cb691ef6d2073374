// Waits that a signal ends, one of two, or the time. The work itself goes on, perhaps for others: nobody waits for it here any
// more.

/** Settles as the work does, or rejects with the signal's reason if that comes first. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const refuse = (): void => reject(signal.reason)
  if (signal.aborted) refuse()
  signal.addEventListener('abort', refuse)
  work.then(resolve, reject)
  return promise.finally(() => signal.removeEventListener('abort', refuse))
}

/** As the work, whose rejection with this signal's reason is no failure: undefined then. */
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

/** Of a signal that is always there and one that may be. */
export function eitherOf(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? signal : AbortSignal.any([signal, other])
}

/**
 * Gives the work a signal that fires when its time is up, and as the parent does; it settles as the work does. Other than
 * AbortSignal.timeout it keeps the process alive, and nothing is left of it when the work is over.
 * @param reason the signal's, when time is up.
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
