// A place in a slot for one keeper, ready or starting. Another replaces one that has failed; what that leaves is the
// slot's to clear.
import type { KeeperGroup } from '#cgroup'
import type { Keeper } from './keeper-process.ts'

/** A started keeper and its cgroup. */
export interface StandingKeeper {
  readonly keeper: Keeper
  readonly group: KeeperGroup
  /** Programs that it has run. */
  runs: number
}

export interface Place {
  /** The keeper has started. */
  readonly isReady: boolean
  /** The present keeper; starts one if there is none. */
  get(): Promise<StandingKeeper>
  /** Resolves when nothing of a failed keeper is left; another is starting then. */
  replace(failed: StandingKeeper): Promise<void>
  /** Counts a run. After its last, another starts at once, and this one leaves in the background. */
  noteRun(standing: StandingKeeper): void
  /** Ends the keeper; the place stays empty. */
  close(): Promise<void>
}

export interface PlaceOptions {
  readonly start: () => Promise<StandingKeeper>
  /** Gets a promise for what is left in the slot: resolves when it is gone, rejects when it stays. */
  readonly onLeft: (cleared: Promise<void>) => void
  /** Pause before another try after a failed start; null: not before one is wanted. */
  readonly refillMilliseconds: number | null
  /** Runs before it is replaced. */
  readonly runsMost: number
}

/** An empty place. */
export function createPlace({ start, onLeft, refillMilliseconds, runsMost }: PlaceOptions): Place {
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
      // The slot is in use meanwhile; if something is left, this was its last run.
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
