// Remembers recently valid keys, for statements that check the key themselves. Keys with a rate limit are not kept, as
// each request counts.
import type { Caller } from './account.ts'
import { digestKey } from './key.ts'

/** By their digests. */
export interface KnownKeys {
  /** @returns the caller; null: ask the database. */
  recall(key: string): Caller | null
  /** Notes what the database said; null: the key is not valid. */
  learn(key: string, caller: Caller | null): void
}

// Below five seconds, after which not even a body is read for a revoked key.
const keptMilliseconds = 4000
// Only issued keys are kept: strangers cannot fill it.
const keptKeys = 10_000

export function createKnownKeys(): KnownKeys {
  const known = new Map<string, { readonly caller: Caller; readonly until: number }>()
  const nameOf = (key: string): string => digestKey(key).toString('base64')
  return {
    recall(key) {
      const entry = known.get(nameOf(key))
      return entry !== undefined && performance.now() < entry.until ? entry.caller : null
    },
    learn(key, caller) {
      if (caller === null || caller.rate !== null) {
        known.delete(nameOf(key))
        return
      }
      if (known.size >= keptKeys) known.clear()
      known.set(nameOf(key), { caller, until: performance.now() + keptMilliseconds })
    },
  }
}
