// A slot's place for one keeper, which is ready or starting. Another keeper replaces one that fails, during a run or between
// two, and one that has reached its number of runs.
import { setTimeout as delay } from 'node:timers/promises'
import type { Hold } from './clearing.ts'
import type { OpenKeeper } from './open.ts'

export interface PlacedKeeper extends OpenKeeper {
  runs: number
}

export interface Place {
  readonly isReady: boolean
  /** Returns the keeper, and starts one if there is none. */
  get(): Promise<PlacedKeeper>
  /** Resolves when nothing of the failed keeper is left and another one is starting, or will later. */
  replace(failed: PlacedKeeper): Promise<void>
  /** Counts a run of the keeper, and replaces the keeper if it has reached its number of runs. */
  noteRun(placed: PlacedKeeper): void
  /** Ends the keeper, which runs nothing. Another one starts now or with the next `get`, as after a failed start. */
  renew(): Promise<void>
  /** Ends the keeper. The place then stays empty. */
  close(): Promise<void>
}

export interface PlaceOptions {
  readonly start: () => Promise<PlacedKeeper>
  readonly hold: Hold
  /** How long a failed keeper's group may take to be removed; after that the slot is never lent again. */
  readonly dyingSeconds: number
  /** Pause before another start after a failed one. Null: the next `get` starts one. */
  readonly refillMilliseconds: number | null
  /** Runs after which a keeper is replaced; infinity for never. */
  readonly runsMost: number
  /** Called once when no keeper could replace an earlier one, until one has started again. */
  readonly onMissing: (error: unknown) => void
}

interface Coming {
  readonly placed: Promise<PlacedKeeper>
  isUp: boolean
}

const removalPauseMilliseconds = 1000

export function createPlace({
  start,
  hold,
  dyingSeconds,
  refillMilliseconds,
  runsMost,
  onMissing,
}: PlaceOptions): Place {
  let present: Coming | null = null
  let isClosed = false
  let wasThere = false
  const replaced = new WeakMap<PlacedKeeper, Promise<void>>()

  function fill(): Promise<PlacedKeeper> {
    const coming = { placed: start(), isUp: false }
    present = coming
    void settle(coming).catch(() => {})
    return coming.placed
  }

  async function settle(coming: Coming): Promise<void> {
    let placed: PlacedKeeper
    try {
      placed = await coming.placed
      coming.isUp = true
    } catch (error) {
      if (present === coming) present = null
      if (wasThere && !isClosed) onMissing(error)
      wasThere = false
      refillLater()
      return
    }
    wasThere = true
    await placed.keeper.failed
    if (present === coming && !isClosed) await replace(placed)
  }

  function refillLater(): void {
    if (refillMilliseconds !== null) setTimeout(refill, refillMilliseconds).unref()
  }

  function refill(): void {
    if (!isClosed && present === null) void fill().catch(() => {})
  }

  /** Replaces each keeper only once, because a run and `settle` may both notice its failure. */
  function replace(failed: PlacedKeeper): Promise<void> {
    const replacing = replaced.get(failed) ?? replaceNow(failed)
    replaced.set(failed, replacing)
    return replacing
  }

  async function replaceNow(failed: PlacedKeeper): Promise<void> {
    present = null
    const closed = failed.close()
    const cleared = closed.catch(() => removeLate(failed))
    hold(cleared)
    // A keeper that failed before its first run would probably fail again at once.
    const filled = cleared.then(failed.runs === 0 ? refillLater : refill)
    filled.catch(() => {})
    await closed
    await filled
  }

  /** Repeats a removal that has failed: nobody but the slot waits for it. */
  async function removeLate({ group }: PlacedKeeper): Promise<void> {
    const givesUp = performance.now() + dyingSeconds * 1000
    for (;;) {
      await delay(removalPauseMilliseconds)
      try {
        return await group.remove()
      } catch (error) {
        if (isClosed || performance.now() > givesUp) throw error
      }
    }
  }

  async function empty(): Promise<void> {
    const placed = await present?.placed.catch(() => null)
    present = null
    await placed?.close()
  }

  return {
    get isReady() {
      return present?.isUp === true
    },
    get: () => present?.placed ?? fill(),
    replace,
    noteRun(placed) {
      placed.runs += 1
      if (placed.runs >= runsMost && !isClosed) void replace(placed).catch(() => {})
    },
    async renew() {
      await empty()
      if (refillMilliseconds !== null) refill()
    },
    async close() {
      isClosed = true
      await empty()
    },
  }
}
