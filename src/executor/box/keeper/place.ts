// A slot's place for one keeper, ready or starting. Another replaces one that failed, in a run or between two, and one that has
// had its runs.
import type { OpenKeeper } from './open.ts'

export interface StandingKeeper extends OpenKeeper {
  runs: number
}

export interface Place {
  readonly isReady: boolean
  /** Starts one if there is none. */
  get(): Promise<StandingKeeper>
  /** Resolves when nothing of it is left and another is starting. */
  replace(failed: StandingKeeper): Promise<void>
  /** After a run: one that has had its runs leaves. */
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
  /** Of one keeper; infinite: one that works stays. */
  readonly runsMost: number
  /** Called once when none could be started in the place of one that was there, until there is one again. */
  readonly onMissing: (error: unknown) => void
}

/** One that is started. */
interface Coming {
  readonly standing: Promise<StandingKeeper>
  isUp: boolean
}

export function createPlace({
  start,
  onLeft,
  refillMilliseconds,
  runsMost,
  onMissing,
}: PlaceOptions): Place {
  let present: Coming | null = null
  let isClosed = false
  let wasThere = false
  const leaving = new Set<Promise<void>>()
  const replaced = new WeakMap<StandingKeeper, Promise<void>>()

  function fill(): Promise<StandingKeeper> {
    const coming = { standing: start(), isUp: false }
    present = coming
    void settle(coming).catch(() => {})
    return coming.standing
  }

  async function settle(coming: Coming): Promise<void> {
    let standing: StandingKeeper
    try {
      standing = await coming.standing
      coming.isUp = true
    } catch (error) {
      if (present === coming) present = null
      if (wasThere && !isClosed) onMissing(error)
      wasThere = false
      refillLater()
      return
    }
    wasThere = true
    await standing.keeper.failed
    if (present === coming && !isClosed) await replace(standing)
  }

  function refillLater(): void {
    if (refillMilliseconds !== null) setTimeout(refill, refillMilliseconds).unref()
  }

  function refill(): void {
    if (!isClosed && present === null) void fill().catch(() => {})
  }

  /** Once for each, whoever finds that it has failed. */
  function replace(failed: StandingKeeper): Promise<void> {
    const replacing = replaced.get(failed) ?? replaceNow(failed)
    replaced.set(failed, replacing)
    return replacing
  }

  async function replaceNow(failed: StandingKeeper): Promise<void> {
    present = null
    const cleared = failed.close()
    onLeft(cleared)
    await cleared
    // The next would fail as well.
    if (failed.runs === 0) refillLater()
    else refill()
  }

  return {
    get isReady() {
      return present?.isUp === true
    },
    get: () => present?.standing ?? fill(),
    replace,
    noteRun(standing) {
      standing.runs += 1
      if (standing.runs < runsMost || isClosed) return
      void fill().catch(() => {})
      // If something is left, the slot runs nothing more.
      const gone = standing.close().catch((error: unknown) => onLeft(Promise.reject(error)))
      leaving.add(gone)
      void gone.then(() => leaving.delete(gone))
    },
    async close() {
      isClosed = true
      const standing = await present?.standing.catch(() => null)
      present = null
      await standing?.close()
      await Promise.all(leaving)
    },
  }
}
