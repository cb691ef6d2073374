// Remembers recently valid keys of operators, whose pages ask every second.
import { digestKey } from './key.ts'

/** Callers by the digests of their keys. */
interface KnownKeys<C> {
  /** @returns the caller; null when the database must be asked. */
  recall(key: string): C | null
  /** Stores what the database answered; a null caller means that the key is not valid. */
  learn(key: string, caller: C | null): void
}

// SECURITY.md promises that a revoked key can read for four seconds at most.
const keptMilliseconds = 4000
// Strangers cannot fill the map, because only issued keys are kept.
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
