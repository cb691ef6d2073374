// Who may begin an attempt now, and when the others should ask again. Bounds how much one receiver or one account has
// under way, so that whoever is slow waits for himself alone. Pure arithmetic over a clock: no timers, no database.

/** One bound that an attempt falls under. */
export interface Bound {
  /** What is bounded, such as `host:example.com`. */
  readonly key: string
  /** How much may be under way at once. One that weighs more than all of it still gets in, alone. */
  readonly limit: number
  /** How much of it this one takes; 1 when left out. */
  readonly weight?: number
}

/** The answer to who wants in: `leave` must be called when the work is over. */
export type Entry =
  | { readonly kind: 'entered'; readonly leave: () => void }
  | { readonly kind: 'full'; readonly comeBackSeconds: number }

export interface Gate {
  /** Takes a place under every bound, or under none. */
  enter(bounds: readonly Bound[]): Entry
}

/** What is under way under one key. */
interface Lane {
  taken: number
  /** When each of those under way began. */
  readonly startedAt: Set<{ readonly seconds: number }>
  /** How long one takes, by those that ended lately. */
  typicalSeconds: number
  /** The time that was last given out to one who was sent away. */
  lastTurn: number
}

const shortestWaitSeconds = 1
const longestWaitSeconds = 60
// Before anything has ended: quick enough not to slow an honest receiver's burst down, and soon known better.
const assumedSeconds = 0.1

/**
 * Creates a gate. Whoever is sent away is told to come back when his turn is likely, judged by how long the work takes:
 * five hundred that wait for a receiver which hangs ask a few times a minute, not five hundred times a second.
 * @param clock seconds, monotonic.
 */
export function createGate(
  clock: () => number = () => performance.now() / 1000,
  random: () => number = Math.random,
): Gate {
  const lanes = new Map<string, Lane>()

  return {
    enter(bounds) {
      const now = clock()
      const waits = bounds.map((bound) => takeTurn(lanes.get(bound.key), bound, now, random))
      const comeBackSeconds = Math.max(0, ...waits)
      if (comeBackSeconds > 0) return { kind: 'full', comeBackSeconds }

      const start = { seconds: now }
      for (const { key, weight = 1 } of bounds) {
        const lane = lanes.get(key) ?? createLane()
        lanes.set(key, lane)
        lane.taken += weight
        lane.startedAt.add(start)
      }
      return {
        kind: 'entered',
        leave() {
          for (const { key, weight = 1 } of bounds) {
            const lane = lanes.get(key)
            if (lane === undefined || !lane.startedAt.delete(start)) continue
            lane.taken -= weight
            lane.typicalSeconds += (clock() - start.seconds - lane.typicalSeconds) / 4
            // Nothing is kept of who has nothing under way: strangers choose the keys.
            if (lane.startedAt.size === 0) lanes.delete(key)
          }
        },
      }
    },
  }
}

function createLane(): Lane {
  return { taken: 0, startedAt: new Set(), typicalSeconds: assumedSeconds, lastTurn: 0 }
}

/** Seconds to wait; 0 when there is room. */
function takeTurn(
  lane: Lane | undefined,
  { limit, weight = 1 }: Bound,
  now: number,
  random: () => number,
): number {
  if (lane === undefined || lane.taken === 0 || lane.taken + weight <= limit) return 0
  // A set keeps the order of insertion: the first is the oldest. A receiver that has hung for 5 s takes at least 5 s.
  const [oldest] = lane.startedAt
  const seconds = Math.max(lane.typicalSeconds, now - (oldest?.seconds ?? now))
  const interval = (seconds * weight) / limit
  lane.lastTurn = Math.max(lane.lastTurn, now + shortestWaitSeconds) + interval
  if (lane.lastTurn - now <= longestWaitSeconds) return lane.lastTurn - now
  lane.lastTurn = now + longestWaitSeconds
  return longestWaitSeconds * (0.5 + random() / 2)
}
