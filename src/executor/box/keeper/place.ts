// A slot's place for one keeper, ready or starting. Another replaces one that failed; the slot clears the rest.
import type { KeeperGroup } from '#cgroup'
import type { Keeper } from './keeper-process.ts'

export interface StandingKeeper {
  readonly keeper: Keeper
  readonly group: KeeperGroup
  runs: number
}

export interface Place {
  readonly isReady: boolean
  /** Starts one if there is none. */
  get(): Promise<StandingKeeper>
  /** Resolves when nothing of it is left and another is starting. */
  replace(failed: StandingKeeper): Promise<void>
  /** After the last run another starts at once, and this one leaves in the background. */
  noteRun(standing: StandingKeeper): void
  /** Ends the keeper; the place stays empty. */
  close(): Promise<void>
}

export interface PlaceOptions {
  readonly start: () => Promise<StandingKeeper>
  /** Gets a promise for what is left: it resolves when that is gone, and rejects when it stays. */
  readonly onLeft: (cleared: Promise<void>) => void
  /** Pause after a failed start; null: until one is wanted. */
  readonly refillMilliseconds: number | null
  readonly runsMost: number
}

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
      // The slot is in use; if something is left, this was its last run.
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
