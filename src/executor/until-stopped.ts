// Waits for work that goes on for others, too.

/** Settles with the work, or rejects with the signal's reason: the work goes on then. */
export function untilStopped<T>(work: Promise<T>, stop: AbortSignal | undefined): Promise<T> {
  if (stop === undefined) return work
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const refuse = (): void => reject(stop.reason)
  if (stop.aborted) refuse()
  stop.addEventListener('abort', refuse)
  work.then(resolve, reject)
  return promise.finally(() => stop.removeEventListener('abort', refuse))
}
