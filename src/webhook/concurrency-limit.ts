// Limits what one receiver or account has under way, so that the slow hold up only themselves.

export interface Bound {
  /** Such as `host:example.com`. */
  readonly key: string
  /** At once. A single weight above it still gets in, alone. */
  readonly limit: number
  /** 1 when left out. */
  readonly weight?: number
}

/** `leave` must be called when the work is over. */
export type Entry =
  | { readonly kind: 'entered'; readonly leave: () => void }
  | { readonly kind: 'full'; readonly comeBackSeconds: number }

export interface ConcurrencyLimit {
  /** Takes a place under every bound, or under none. Settles within the patience. */
  enter(bounds: readonly Bound[]): Promise<Entry>
}

interface ConcurrencyLimitOptions {
  /** Whoever likely gets in within this time waits; 0.5 s when left out. */
  readonly patienceSeconds?: number
  readonly clock?: () => number
  /** From 0 to 1. */
  readonly random?: () => number
}

/** What is under way under one key. */
interface Lane {
  taken: number
  readonly starts: Set<Start>
  /** How long one takes, by those that ended lately. */
  typicalSeconds: number
  /** The last return time given to one sent away. */
  lastTurn: number
  waiting: number
}

interface Start {
  readonly seconds: number
}

interface Waiter {
  readonly bounds: readonly Bound[]
  readonly settle: (entry: Entry) => void
}

const shortestAbsenceSeconds = 1
// The schedule's second step: a receiver may recover. Each return costs three commits.
const longestAbsenceSeconds = 300
// Before anything has ended: small, so as not to slow an honest burst.
const assumedSeconds = 0.1

/**
 * For a quick receiver attempts wait in line; for a slow one they are sent away until their turn is likely. So five
 * hundred for a hung receiver ask every few minutes, not five hundred times a second.
 */
export function createConcurrencyLimit(options: ConcurrencyLimitOptions = {}): ConcurrencyLimit {
  const {
    patienceSeconds = 0.5,
    clock = () => performance.now() / 1000,
    random = Math.random,
  } = options
  const lanes = new Map<string, Lane>()
  const line = new Set<Waiter>()

  const findFull = (bounds: readonly Bound[]): [Lane, Bound][] =>
    bounds.flatMap((bound): [Lane, Bound][] => {
      const lane = lanes.get(bound.key)
      const full = lane !== undefined && lane.taken > 0 && lane.taken + weigh(bound) > bound.limit
      return full ? [[lane, bound]] : []
    })

  const take = (bounds: readonly Bound[]): Entry => {
    const start: Start = { seconds: clock() }
    for (const bound of bounds) {
      const lane = lanes.get(bound.key) ?? createLane()
      lanes.set(bound.key, lane)
      lane.taken += weigh(bound)
      lane.starts.add(start)
    }
    return { kind: 'entered', leave: () => leave(bounds, start) }
  }

  const leave = (bounds: readonly Bound[], start: Start): void => {
    for (const bound of bounds) {
      const lane = lanes.get(bound.key)
      if (lane === undefined || !lane.starts.delete(start)) continue
      lane.taken -= weigh(bound)
      lane.typicalSeconds += (clock() - start.seconds - lane.typicalSeconds) / 4
    }
    for (const waiter of line) {
      if (findFull(waiter.bounds).length === 0) waiter.settle(take(waiter.bounds))
    }
    // Strangers choose the keys, so idle ones are forgotten.
    for (const { key } of bounds) if (lanes.get(key)?.starts.size === 0) lanes.delete(key)
  }

  const sendAway = (full: readonly [Lane, Bound][]): Entry => ({
    kind: 'full',
    comeBackSeconds: Math.max(
      shortestAbsenceSeconds,
      ...full.map(([lane, bound]) => giveTurn(lane, bound, clock(), random)),
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

  return {
    async enter(bounds) {
      const full = findFull(bounds)
      if (full.length === 0) return take(bounds)
      const soon = full.every(
        ([lane, bound]) =>
          (lane.waiting + 1) * expectInterval(lane, bound, clock()) <= patienceSeconds,
      )
      return soon ? wait(bounds, full) : sendAway(full)
    },
  }
}

function createLane(): Lane {
  return {
    taken: 0,
    starts: new Set(),
    typicalSeconds: assumedSeconds,
    lastTurn: 0,
    waiting: 0,
  }
}

function weigh({ weight = 1 }: Bound): number {
  return weight
}

/** Average seconds until one more place is free. */
function expectInterval(lane: Lane, bound: Bound, now: number): number {
  // In insertion order, so the first is the oldest. A receiver hung for 5 s takes at least 5 s.
  const [oldest] = lane.starts
  const seconds = Math.max(lane.typicalSeconds, now - (oldest?.seconds ?? now))
  return (seconds * weigh(bound)) / bound.limit
}

/** Seconds until the turn of the next one sent away. */
function giveTurn(lane: Lane, bound: Bound, now: number, random: () => number): number {
  lane.lastTurn =
    Math.max(lane.lastTurn, now + shortestAbsenceSeconds) + expectInterval(lane, bound, now)
  if (lane.lastTurn - now <= longestAbsenceSeconds) return lane.lastTurn - now
  lane.lastTurn = now + longestAbsenceSeconds
  return longestAbsenceSeconds * (0.5 + random() / 2)
}
