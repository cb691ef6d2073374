// Shares one read among callers that ask at about the same time.

/**
 * Wraps a read so that its result is kept for `keptMilliseconds`. At most one read is under way, and none is started while no
 * caller asks. A failed read is not kept.
 */
export function cachedRead<T>(read: () => Promise<T>, keptMilliseconds: number): () => Promise<T> {
  let kept: Promise<T> | null = null
  let keptUntil = Number.POSITIVE_INFINITY
  return () => {
    if (kept !== null && performance.now() < keptUntil) return kept
    const reading = read()
    kept = reading
    keptUntil = Number.POSITIVE_INFINITY
    reading.then(
      () => (keptUntil = performance.now() + keptMilliseconds),
      () => {
        if (kept === reading) kept = null
      },
    )
    return reading
  }
}
