// A keeper's place in a slot: one stands there, or is on its way. One that has failed is never used again: another comes up
// in its place, and what is left of it is the slot's to clear.
import type { KeeperGroup } from '#cgroup'
import type { Keeper } from './keeper-process.ts'

/** A keeper that has come up, and its cgroup. */
export interface StandingKeeper {
  readonly keeper: Keeper
  readonly group: KeeperGroup
  /** Programs that it has run. */
  runs: number
}

export interface Place {
  /** True while one stands there. */
  readonly isReady: boolean
  /** The one that stands there or is on its way; without either, one is started. */
  get(): Promise<StandingKeeper>
  /** For one that has failed: when nothing of it is left this resolves, and another is on its way. */
  replace(failed: StandingKeeper): Promise<void>
  /** It has run one more. When it has served its time, another is on its way at once, and it goes in the background. */
  noteRun(standing: StandingKeeper): void
  /** Ends whatever is there, and keeps the place empty. */
  close(): Promise<void>
}

export interface PlaceOptions {
  readonly start: () => Promise<StandingKeeper>
  /** Told of what is left in the slot: it resolves when that is gone, and rejects when it stays. */
  readonly onLeft: (cleared: Promise<void>) => void
  /** After one could not be started, the next is tried so much later; null: when one is wanted. */
  readonly refillMilliseconds: number | null
  /** Runs after which one has served its time. */
  readonly runsMost: number
}

/** An empty one. */
export function createPlace({ start, onLeft, refillMilliseconds, runsMost }: PlaceOptions): Place {
  /** Null: there is none. */
  let present: Promise<StandingKeeper> | null = null
  let isReady = false
  let isClosed = false
  const leaving = new Set<Promise<void>>()

  function fill(): Promise<StandingKeeper> {
    const coming = start()
    present = coming
    isReady = false
    coming.then(
      () => (isReady = true),
      () => {
        if (present === coming) present = null
        if (refillMilliseconds !== null) setTimeout(refill, refillMilliseconds).unref()
      },
    )
    return coming
  }

  function refill(): void {
    if (!isClosed && present === null) void fill().catch(() => {})
  }

  async function dismiss({ keeper, group }: StandingKeeper): Promise<void> {
    await keeper.close()
    await group.remove()
  }

  return {
    get isReady() {
      return isReady && present !== null
    },
    get: () => present ?? fill(),
    async replace(failed) {
      present = null
      isReady = false
      const cleared = dismiss(failed)
      onLeft(cleared)
      await cleared
      refill()
    },
    noteRun(standing) {
      standing.runs += 1
      if (standing.runs < runsMost || isClosed) return
      void fill().catch(() => {})
      // The slot is in use meanwhile; when something of it is left the slot has had its last run.
      const gone = dismiss(standing).catch((error: unknown) => onLeft(Promise.reject(error)))
      leaving.add(gone)
      void gone.then(() => leaving.delete(gone))
    },
    async close() {
      isClosed = true
      const found = await present?.catch(() => null)
      present = null
      if (found !== null && found !== undefined) await dismiss(found)
      await Promise.all(leaving)
    },
  }
}
