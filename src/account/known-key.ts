// Remembers recently valid keys of operators, who look each second.
import { digestKey } from './key.ts'

/** By their digests. */
interface KnownKeys<C> {
  /** @returns the caller; null: ask the database. */
  recall(key: string): C | null
  /** Notes what the database said; null: the key is not valid. */
  learn(key: string, caller: C | null): void
}

// SECURITY.md promises: a revoked key looks on for four seconds at most.
const keptMilliseconds = 4000
// Only issued keys are kept: strangers cannot fill it.
const keptKeys = 10_000

export function createKnownKeys<C>(): KnownKeys<C> {
  const known = new Map<string, { readonly caller: C; readonly until: number }>()
  const nameOf = (key: string): string => digestKey(key).toString('base64')
  return {
    recall(key) {
      const entry = known.get(nameOf(key))
      return entry !== undefined && performance.now() < entry.until ? entry.caller : null
    },
    learn(key, caller) {
      if (caller === null) {
        known.delete(nameOf(key))
        return
      }
      if (known.size >= keptKeys) known.clear()
      known.set(nameOf(key), { caller, until: performance.now() + keptMilliseconds })
    },
  }
}
