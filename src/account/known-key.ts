// Remembers recently valid keys: for statements that check the key themselves, and for operators who look each second.
import { digestKey } from './key.ts'

/** By their digests. */
export interface KnownKeys<C> {
  /** @returns the caller; null: ask the database. */
  recall(key: string): C | null
  /** Notes what the database said; null: the key is not valid. */
  learn(key: string, caller: C | null): void
}

// Below five seconds, after which not even a body is read for a revoked key.
const keptMilliseconds = 4000
// Only issued keys are kept: strangers cannot fill it.
const keptKeys = 10_000

/** @param isKept false for a caller who is to be asked about each time. */
export function createKnownKeys<C>(isKept: (caller: C) => boolean): KnownKeys<C> {
  const known = new Map<string, { readonly caller: C; readonly until: number }>()
  const nameOf = (key: string): string => digestKey(key).toString('base64')
  return {
    recall(key) {
      const entry = known.get(nameOf(key))
      return entry !== undefined && performance.now() < entry.until ? entry.caller : null
    },
    learn(key, caller) {
      if (caller === null || !isKept(caller)) {
        known.delete(nameOf(key))
        return
      }
      if (known.size >= keptKeys) known.clear()
      known.set(nameOf(key), { caller, until: performance.now() + keptMilliseconds })
    },
  }
}
