// Limits the attempts that run at once for one receiver or account, so that a slow receiver delays only its own deliveries.

export interface Bound {
  /** Such as `host:example.com`. */
  readonly key: string
  /** The most weight at once. A single entry with more weight still enters, but alone. */
  readonly limit: number
  readonly weight: number
}

interface Entered {
  readonly kind: 'entered'
  /** The caller must call it when the work is over. */
  readonly leave: () => void
}
export type Entry = Entered | { readonly kind: 'full'; readonly comeBackSeconds: number }

/** Takes a position under every bound, or under none. Settles within `patienceSeconds`. */
export type Enter = (bounds: readonly Bound[]) => Promise<Entry>

interface ConcurrencyLimitOptions {
  /** 0.5 s when left out. */
  readonly patienceSeconds?: number
  readonly clock?: () => number
  /** From 0 to 1. */
  readonly random?: () => number
}

/** The work in progress under one key. */
interface Lane {
  taken: number
  /** In seconds, the oldest first. Each entry has an object of its own. */
  readonly starts: Set<{ readonly seconds: number }>
}

const shortestAbsenceSeconds = 2
// The retry schedule's second step. A receiver may recover meanwhile, and each return costs three commits.
const longestAbsenceSeconds = 300
/** An attempt that is sent away returns after this many times what the oldest attempt under way has taken. */
const absenceFactor = 20

/**
 * Attempts for a receiver that answers within the patience wait in line as long. Attempts for a slower one are sent away at once, so
 * that five hundred attempts for a hung receiver ask every few minutes and hold nobody up.
 */
export function createConcurrencyLimit({
  patienceSeconds = 0.5,
  clock = () => performance.now() / 1000,
  random = Math.random,
}: ConcurrencyLimitOptions = {}): Enter {
  const lanes = new Map<string, Lane>()
  const line = new Set<{ readonly bounds: readonly Bound[]; enter(entry: Entered): void }>()

  const isFull = ({ key, weight, limit }: Bound): boolean => {
    const lane = lanes.get(key)
    return lane !== undefined && lane.taken > 0 && lane.taken + weight > limit
  }

  /** Returns how long the oldest attempt under a full bound has taken. */
  const measureAge = (bounds: readonly Bound[]): number => {
    const starts = bounds.filter(isFull).flatMap(({ key }) => [...(lanes.get(key)?.starts ?? [])])
    return clock() - Math.min(clock(), ...starts.map(({ seconds }) => seconds))
  }

  const take = (bounds: readonly Bound[]): Entered => {
    const start = { seconds: clock() }
    for (const { key, weight } of bounds) {
      const lane = lanes.get(key) ?? { taken: 0, starts: new Set() }
      lanes.set(key, lane)
      lane.taken += weight
      lane.starts.add(start)
    }
    const leave = (): void => {
      for (const { key, weight } of bounds) {
        const lane = lanes.get(key)
        if (lane?.starts.delete(start) === true) lane.taken -= weight
      }
      for (const waiter of line) if (!waiter.bounds.some(isFull)) waiter.enter(take(waiter.bounds))
      // Strangers choose the keys, so idle lanes are removed to bound the memory.
      for (const { key } of bounds) if (lanes.get(key)?.starts.size === 0) lanes.delete(key)
    }
    return { kind: 'entered', leave }
  }

  /** Waits in line. Resolves with null when the patience is over. */
  const wait = (bounds: readonly Bound[]): Promise<Entered | null> =>
    new Promise((resolve) => {
      const end = (entry: Entered | null): void => {
        clearTimeout(timer)
        line.delete(waiter)
        resolve(entry)
      }
      const timer = setTimeout(end, patienceSeconds * 1000, null)
      const waiter = { bounds, enter: end }
      line.add(waiter)
    })

  return async (bounds) => {
    if (!bounds.some(isFull)) return take(bounds)
    const entry = measureAge(bounds) < patienceSeconds ? await wait(bounds) : null
    if (entry !== null) return entry
    const seconds = Math.min(
      longestAbsenceSeconds,
      Math.max(shortestAbsenceSeconds, absenceFactor * measureAge(bounds)),
    )
    return { kind: 'full', comeBackSeconds: seconds * (0.5 + random() / 2) }
  }
}
