// Keys that were valid a moment ago, for requests whose own statement checks the key again: they need not be asked about
// before the body is read. Only keys without a rate limit are kept: their requests are not counted.
import type { Caller } from './account.ts'
import { digestKey } from './key.ts'

/** Remembers valid keys for a few seconds, by their digests. */
export interface KnownKeys {
  /** @returns the caller, or null for a key that was not seen to be valid of late. */
  recall(key: string): Caller | null
  /** Takes down what was just learnt of a key; null: it is not valid. */
  learn(key: string, caller: Caller | null): void
}

// A key that is revoked opens nothing five seconds later, not even its body is read.
const keptMilliseconds = 4000
// Each is an issued key: strangers cannot add any.
const keptKeys = 10_000

/** Creates an empty memory. */
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
