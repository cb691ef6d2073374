// Bounds what uploads hold in memory while they arrive, over all callers and for each: who sends slowly keeps others waiting
// no more than that.

/** Of all at once. */
const roomBytes = 64 * 1024 * 1024
/** Of one account. */
const accountBytes = roomBytes / 2
/** Each has a connection and its buffers, however small it is. */
const leastBytes = 1024 * 1024

export interface UploadRoom {
  /** Null when there is no room now; else call it when the bytes are let go. */
  take(accountId: string, bytes: number): (() => void) | null
}

export function createUploadRoom(): UploadRoom {
  let used = 0
  const usedBy = new Map<string, number>()
  return {
    take(accountId, bytes) {
      const needed = Math.max(leastBytes, bytes)
      const own = usedBy.get(accountId) ?? 0
      if (used + needed > roomBytes || own + needed > accountBytes) return null
      used += needed
      usedBy.set(accountId, own + needed)
      return () => {
        used -= needed
        const left = (usedBy.get(accountId) ?? 0) - needed
        if (left > 0) usedBy.set(accountId, left)
        else usedBy.delete(accountId)
      }
    },
  }
}
