// Limits the attempts that run at once for one receiver or account, so that a slow receiver delays only its own deliveries.

export interface Bound {
  /** Such as `host:example.com`. */
  readonly key: string
  /** The most weight at once. A single entry with more weight still enters, but alone. */
  readonly limit: number
  readonly weight: number
}

/** The caller must call `leave` when the work is over. */
export type Entry =
  | { readonly kind: 'entered'; readonly leave: () => void }
  | { readonly kind: 'full'; readonly comeBackSeconds: number }

/** Takes a position under every bound, or under none. Settles within `patienceSeconds`. */
export type Enter = (bounds: readonly Bound[]) => Promise<Entry>

interface ConcurrencyLimitOptions {
  /** A caller that will probably enter within this time waits; 0.5 s when left out. */
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
  /** How long one attempt takes: a moving average of those that ended lately. */
  typicalSeconds: number
  /** The latest return time given to a caller that was sent away. */
  lastReturn: number
  waiting: number
}

interface Waiter {
  readonly bounds: readonly Bound[]
  readonly settle: (entry: Entry) => void
}

const shortestAbsenceSeconds = 1
// The retry schedule's second step. A receiver may recover meanwhile, and each return costs three commits.
const longestAbsenceSeconds = 300
// Used before any attempt has ended. It is small, so that an honest burst is not slowed down.
const assumedSeconds = 0.1

/**
 * Attempts for a fast receiver wait in line. Attempts for a slow receiver are sent away until they can probably enter.
 * So five hundred attempts for a hung receiver ask every few minutes, not five hundred times a second.
 */
export function createConcurrencyLimit({
  patienceSeconds = 0.5,
  clock = () => performance.now() / 1000,
  random = Math.random,
}: ConcurrencyLimitOptions = {}): Enter {
  const lanes = new Map<string, Lane>()
  const line = new Set<Waiter>()

  const findFull = (bounds: readonly Bound[]): [Lane, Bound][] =>
    bounds.flatMap((bound): [Lane, Bound][] => {
      const lane = lanes.get(bound.key)
      const full = lane !== undefined && lane.taken > 0 && lane.taken + bound.weight > bound.limit
      return full ? [[lane, bound]] : []
    })

  const take = (bounds: readonly Bound[]): Entry => {
    const start = { seconds: clock() }
    for (const { key, weight } of bounds) {
      const lane = lanes.get(key) ?? createLane()
      lanes.set(key, lane)
      lane.taken += weight
      lane.starts.add(start)
    }
    const leave = (): void => {
      for (const { key, weight } of bounds) {
        const lane = lanes.get(key)
        if (lane === undefined || !lane.starts.delete(start)) continue
        lane.taken -= weight
        lane.typicalSeconds += (clock() - start.seconds - lane.typicalSeconds) / 4
      }
      for (const waiter of line) {
        if (findFull(waiter.bounds).length === 0) waiter.settle(take(waiter.bounds))
      }
      // Strangers choose the keys, so idle lanes are removed to bound the memory.
      for (const { key } of bounds) if (lanes.get(key)?.starts.size === 0) lanes.delete(key)
    }
    return { kind: 'entered', leave }
  }

  const sendAway = (full: readonly [Lane, Bound][]): Entry => ({
    kind: 'full',
    comeBackSeconds: Math.max(
      shortestAbsenceSeconds,
      ...full.map(([lane, bound]) => chooseReturn(lane, bound, clock(), random)),
    ),
  })

  const wait = (bounds: readonly Bound[], full: readonly [Lane, Bound][]): Promise<Entry> => {
    const { promise, resolve } = Promise.withResolvers<Entry>()
    const waiter: Waiter = {
      bounds,
      settle(entry) {
        clearTimeout(timer)
        line.delete(waiter)
        for (const [lane] of full) lane.waiting -= 1
        resolve(entry)
      },
    }
    const timer = setTimeout(
      () => waiter.settle(sendAway(findFull(bounds))),
      patienceSeconds * 1000,
    )
    for (const [lane] of full) lane.waiting += 1
    line.add(waiter)
    return promise
  }

  return async (bounds) => {
    const full = findFull(bounds)
    if (full.length === 0) return take(bounds)
    const soon = full.every(
      ([lane, bound]) =>
        (lane.waiting + 1) * expectInterval(lane, bound, clock()) <= patienceSeconds,
    )
    return soon ? wait(bounds, full) : sendAway(full)
  }
}

function createLane(): Lane {
  return {
    taken: 0,
    starts: new Set(),
    typicalSeconds: assumedSeconds,
    lastReturn: 0,
    waiting: 0,
  }
}

/** Average seconds until the next position is free. */
function expectInterval(lane: Lane, bound: Bound, now: number): number {
  // A receiver that has hung for 5 s takes at least 5 s.
  const [oldest] = lane.starts
  const seconds = Math.max(lane.typicalSeconds, now - (oldest?.seconds ?? now))
  return (seconds * bound.weight) / bound.limit
}

/** Returns the seconds after which the next caller that is sent away must return. */
function chooseReturn(lane: Lane, bound: Bound, now: number, random: () => number): number {
  lane.lastReturn =
    Math.max(lane.lastReturn, now + shortestAbsenceSeconds) + expectInterval(lane, bound, now)
  if (lane.lastReturn - now <= longestAbsenceSeconds) return lane.lastReturn - now
  lane.lastReturn = now + longestAbsenceSeconds
  return longestAbsenceSeconds * (0.5 + random() / 2)
}
