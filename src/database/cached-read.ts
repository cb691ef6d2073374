// Shares an answer among all who ask at about the same time.

/**
 * Wraps a read: at most one is under way, and one begins in that many milliseconds; none while nobody asks. A read that
 * failed is not kept.
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
