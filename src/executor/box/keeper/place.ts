// A slot's place for one keeper, ready or starting. Another replaces one that failed, in a run or between two, and one that has
// had its runs; the slot clears the rest.
import type { KeeperGroup } from '#cgroup'
import type { Keeper } from './keeper-process.ts'

export interface StandingKeeper {
  readonly keeper: Keeper
  readonly group: KeeperGroup
  runs: number
}

export interface Place {
  readonly isReady: boolean
  /** Set while a program runs, or is about to: the next keeper then waits. */
  isBusy: boolean
  /** Starts one if there is none. */
  get(): Promise<StandingKeeper>
  /** Resolves when nothing of it is left and another is starting. */
  replace(failed: StandingKeeper): Promise<void>
  /** After a run: what it has had decides when the next one starts, and when it leaves. */
  noteRun(standing: StandingKeeper): void
  /** Ends the keeper; the place stays empty. */
  close(): Promise<void>
}

/** Numbers of runs of one keeper. */
export interface Renewal {
  /** Then the next one is started. This one goes on until that is up: a program that found neither would start by itself. */
  readonly startsNext: number
  /** Then this one leaves, whatever became of the next. */
  readonly most: number
}

export interface PlaceOptions {
  readonly start: () => Promise<StandingKeeper>
  /** Gets a promise for what is left: it resolves when that is gone, and rejects when it stays. */
  readonly onLeft: (cleared: Promise<void>) => void
  /** Pause after a failed start; null: until one is wanted. */
  readonly refillMilliseconds: number | null
  /** Null: one that works stays. */
  readonly renewal: Renewal | null
  /** Told once when none could be started in the place of one that was there, until there is one again. */
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
  renewal,
  onMissing,
}: PlaceOptions): Place {
  let present: Coming | null = null
  let next: Coming | null = null
  let isClosed = false
  let wasThere = false
  const leaving = new Set<Promise<void>>()
  const replaced = new WeakMap<StandingKeeper, Promise<void>>()

  function fill(): Promise<StandingKeeper> {
    const coming = next ?? begin()
    next = null
    present = coming
    void settle(coming).catch(() => {})
    return coming.standing
  }

  function begin(): Coming {
    const coming = { standing: start(), isUp: false }
    const note = (): void => void (coming.isUp = true)
    coming.standing.then(note, () => {})
    return coming
  }

  /** The next one takes the place of one that was there. */
  function succeed(leaver: StandingKeeper): void {
    if (isClosed || next === null) return
    void fill().catch(() => {})
    // If something is left, the slot runs nothing more.
    const gone = dismiss(leaver).catch((error: unknown) => onLeft(Promise.reject(error)))
    leaving.add(gone)
    void gone.then(() => leaving.delete(gone))
  }

  async function settle(coming: Coming): Promise<void> {
    let standing: StandingKeeper
    try {
      standing = await coming.standing
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
    const cleared = dismiss(failed)
    onLeft(cleared)
    await cleared
    // The next would fail as well.
    if (failed.runs === 0) refillLater()
    else refill()
  }

  async function dismiss({ keeper, group }: StandingKeeper): Promise<void> {
    await keeper.close()
    await group.remove()
  }

  const place: Place = {
    isBusy: false,
    get isReady() {
      return present?.isUp === true
    },
    get: () => present?.standing ?? fill(),
    replace,
    noteRun(standing) {
      standing.runs += 1
      if (renewal === null || standing.runs < renewal.startsNext || isClosed) return
      if (next === null) {
        next = begin()
        const succeedIdle = (): void => (place.isBusy ? undefined : succeed(standing))
        next.standing.then(succeedIdle, () => {})
      }
      if (next.isUp || standing.runs >= renewal.most) succeed(standing)
    },
    async close() {
      isClosed = true
      const started = await Promise.allSettled([present?.standing, next?.standing])
      present = null
      next = null
      for (const one of started) {
        if (one.status === 'fulfilled' && one.value !== undefined) await dismiss(one.value)
      }
      await Promise.all(leaving)
    },
  }
  return place
}
