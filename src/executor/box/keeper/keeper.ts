// The keepers of a worker: one a slot, and one with a resident Python a slot where that can be had.
// A keeper that fails in any way is never used again: what is in its cgroup is killed and another one takes its place.
import {
  beforeBegin,
  createClearings,
  describe,
  judgeEnding,
  NotBegunError,
  SandboxError,
} from '#contract'
import type { KeeperGroup } from '#cgroup'
import type { Boxes, BoxOptions, Evidence, Phase, PhaseRequest, Slot } from '#contract'
import type { BoxResources } from '#bubblewrap'
import { startKeeper } from './conversation.ts'
import type { Keeper } from './conversation.ts'
import type { KeeperPrograms } from './build.ts'

export { buildKeeper, compileOptions, programSources, sourceDirectory } from './build.ts'

export interface KeeperBoxOptions extends Pick<BoxOptions, 'slots' | 'interpreter' | 'onFallback'> {
  readonly resources: BoxResources
  readonly programs: KeeperPrograms
  readonly layout: Buffer
  /** Throws unless what runs in forks of the interpreter is boxed as everything else. */
  readonly proveForks: (
    run: (request: PhaseRequest) => Promise<Phase>,
    interpreter: string,
  ) => Promise<void>
}

/**
 * Runs after which a resident interpreter is replaced: all its forks share its hash seed and its address layout, and
 * what a program learns of them should not last.
 */
const forksMost = 128

/** After a resident interpreter could not be started, the next is tried so much later. */
const refillMilliseconds = 10_000

/** A program with less memory than this is started anew: a resident interpreter's own share would be most of it. */
const leastForkMemoryBytes = 32 * 1024 * 1024

interface Resident {
  readonly keeper: Keeper
  readonly group: KeeperGroup
  runs: number
}

/** A keeper's place in a slot: there is one, or one is on its way. */
interface Place {
  /** Null: not to be had. */
  resident: Promise<Resident> | null
  /** True once it has come up. */
  ready: boolean
}

/** @throws {SandboxError} when a keeper cannot be started. */
export async function createKeeperBoxes({
  resources,
  programs,
  layout,
  slots,
  interpreter,
  onFallback,
  proveForks,
}: KeeperBoxOptions): Promise<Boxes> {
  const places = new Map<Slot, { readonly plain: Place; readonly python: Place }>()
  const leaving = new Set<Promise<void>>()
  const clearings = createClearings()
  let started = 0
  let closed = false
  let residentPython = true

  async function startResident(slot: Slot, forks: boolean): Promise<Resident> {
    started += 1
    const group = await resources.cgroups.createForKeeper(`keeper-${started}`, slot.uid)
    try {
      const keeper = await startKeeper({
        group,
        uid: slot.uid,
        filter: resources.filter,
        layout,
        program: forks ? programs.pythonLibrary : programs.program,
        interpreter: forks && interpreter !== null ? [interpreter, 'main.py'] : null,
      })
      return { keeper, group, runs: 0 }
    } catch (error) {
      clearings.hold(slot, group.remove())
      throw error
    } finally {
      group.closeDescriptors()
    }
  }

  function fill(place: Place, slot: Slot, forks: boolean): Promise<Resident> {
    const resident = startResident(slot, forks)
    place.resident = resident
    place.ready = false
    resident.then(
      () => (place.ready = true),
      () => {
        if (place.resident === resident) place.resident = null
        // Without a plain keeper the next run starts one; without an interpreter runs go on, only slower.
        if (forks && residentPython) setTimeout(refill, refillMilliseconds, place, slot).unref()
      },
    )
    return resident
  }

  function refill(place: Place, slot: Slot): void {
    // One that failed at the worker's start was given up for good: what comes up later has not been proved.
    if (closed || !residentPython || place.resident !== null) return
    void fill(place, slot, true).catch(() => {})
  }

  async function dismiss({ keeper, group }: Resident): Promise<void> {
    await keeper.close()
    await group.remove()
  }

  async function vacate(place: Place): Promise<void> {
    const found = await place.resident?.catch(() => null)
    place.resident = null
    place.ready = false
    if (found !== null && found !== undefined) await dismiss(found)
  }

  /** In the background, while the slot is in use; when something of it is left the slot has had its last run. */
  function dismissLater(resident: Resident, slot: Slot): void {
    const promise = dismiss(resident).catch((error: unknown) => {
      clearings.hold(slot, Promise.reject(error))
    })
    leaving.add(promise)
    void promise.then(() => leaving.delete(promise))
  }

  /** For one that has failed. The slot is clear when it resolves, and another is coming up. */
  async function replace(
    resident: Resident,
    place: Place,
    slot: Slot,
    forks: boolean,
  ): Promise<void> {
    place.resident = null
    place.ready = false
    const cleared = dismiss(resident)
    clearings.hold(slot, cleared)
    await cleared
    if (!closed) void fill(place, slot, forks).catch(() => {})
  }

  function choose(slot: Slot, request: PhaseRequest): { place: Place; forks: boolean } {
    const found = places.get(slot)
    if (found === undefined) throw new SandboxError('slot.acquire', 'a slot of another executor')
    const { plain, python } = found
    const forks =
      request.command.forks === true &&
      request.limits.memoryBytes >= leastForkMemoryBytes &&
      python.resident !== null &&
      python.ready
    return { place: forks ? python : plain, forks }
  }

  const boxes: Boxes = {
    kind: 'keeper',
    async run(slot, request, signal) {
      signal?.throwIfAborted()
      let resident: Resident
      await Promise.resolve(clearings.of(slot)).catch((error: unknown) => {
        throw beforeBegin(error)
      })
      const { place, forks } = choose(slot, request)
      try {
        resident = await (place.resident ?? fill(place, slot, forks))
      } catch (error) {
        throw beforeBegin(error)
      }
      let evidence: Evidence
      try {
        evidence = await resident.keeper.run(request, signal)
      } catch (error) {
        if (resident.keeper.alive) throw error
        const replaced = replace(resident, place, slot, forks).catch(() => {})
        // A program that has run may run again elsewhere: not while this one still does, if a kill can end it.
        if (!(error instanceof NotBegunError)) await replaced
        throw error
      }
      resident.runs += 1
      if (!resident.keeper.alive) {
        // It has failed after the result, which stands.
        void replace(resident, place, slot, forks).catch(() => {})
      } else if (forks && resident.runs >= forksMost && !closed) {
        void fill(place, slot, forks).catch(() => {})
        dismissLater(resident, slot)
      }
      return judgeEnding(request, evidence)
    },
    clearing: (slot) => clearings.of(slot),
    async close() {
      closed = true
      const all = [...places.values()].flatMap(({ plain, python }) => [plain, python])
      await Promise.all(all.map(vacate))
      await Promise.all(leaving)
      await clearings.settled()
    },
  }

  for (const slot of slots) {
    places.set(slot, {
      plain: { resident: null, ready: false },
      python: { resident: null, ready: false },
    })
  }
  try {
    await Promise.all([...places].map(([slot, { plain }]) => fill(plain, slot, false)))
  } catch (error) {
    await boxes.close()
    throw error
  }
  if (interpreter === null) return boxes
  try {
    const residents = await Promise.all(
      [...places].map(([slot, { python }]) => fill(python, slot, true)),
    )
    const [{ keeper }] = residents as [Resident]
    await proveForks(
      async (request) => judgeEnding(request, await keeper.run(request)),
      interpreter,
    )
  } catch (error) {
    residentPython = false
    onFallback(`no resident Python: ${describe(error)}`)
    for (const { python } of places.values()) await vacate(python)
  }
  return boxes
}
