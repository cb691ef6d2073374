// A worker's keepers. Each slot has one that starts programs, one per resident interpreter (ForkServer), one per runtime that
// starts before its program (PrestartedRuntime), and one for programs with a network. A keeper that fails is never used again:
// its cgroup is emptied and another keeper replaces it.
import { untilAborted } from '#abort'
import { asNotStarted, describe, judgeEnding, NotStartedError, SandboxError } from '#contract'
import type {
  PrestartedRuntime,
  Boxes,
  Evidence,
  ForkServer,
  Phase,
  PhaseRequest,
  Slot,
} from '#contract'
import { createClearings } from './clearing.ts'
import type { Clearings, Hold } from './clearing.ts'
import { openKeeper } from './open.ts'
import type { BoxResources, KeeperRequest } from './open.ts'
import { runPair } from './pair.ts'
import { createPlace } from './place.ts'
import type { Place } from './place.ts'
import { proveForks, proveIsolation } from './prove.ts'

export { buildKeeper } from './build.ts'
export { encodeLayout, environment } from './host-root.ts'
export { openKeeper } from './open.ts'
export type { BoxResources } from './open.ts'

export interface BoxOptions {
  readonly resources: BoxResources
  readonly slots: readonly Slot[]
  /** Used when they are available. Otherwise each program starts an interpreter of its own. */
  readonly forkServers: readonly ForkServer[]
  /** Used when they are available. Otherwise a runtime starts with its program. */
  readonly prestartedRuntimes: readonly PrestartedRuntime[]
  readonly onFallback: (reason: string) => void
  /** As in PlaceOptions. */
  readonly dyingSeconds: number
}

/**
 * Runs after which an interpreter is replaced, because programs learn the hash seed and address layout that its forks share.
 * Until the next one has started, programs start by themselves, so a small number costs much: with 128 a busy slot ran ×0.85
 * as many programs.
 */
export const forksMost = 1024

/** Pause after an interpreter or a runtime could not be started. */
const refillMilliseconds = 10_000

/** With less memory the interpreter's share would be most of it, so such programs start an interpreter of their own. */
const leastForkMemoryBytes = 32 * 1024 * 1024

/** With fewer processes or less memory a runtime might not start at all, so such programs start a runtime of their own. */
const leastPrestarted = { processes: 32, memoryBytes: 64 * 1024 * 1024 } as const

/** A kind of keeper. Each slot has one place for each kind. */
interface Kind {
  readonly how: Pick<KeeperRequest, 'interpreter' | 'runtime' | 'network'>
  readonly fits: (request: PhaseRequest) => boolean
  /** What has started before the program. Without it programs start by themselves. */
  readonly accelerator?: ForkServer | PrestartedRuntime
}

const plain: Kind = { how: {}, fits: () => true }
/** The keeper for programs with a network. The first such program in a slot starts it. */
const loopback: Kind = {
  how: { network: 'loopback' },
  fits: ({ network }) => network === 'loopback',
}

function describeForks(server: ForkServer): Required<Kind> {
  return {
    how: { interpreter: server.argv },
    accelerator: server,
    fits: ({ command, limits }) =>
      limits.memoryBytes >= leastForkMemoryBytes && isSameLine(command.argv, server.argv),
  }
}

function describePrestarted(runtime: PrestartedRuntime): Required<Kind> {
  return {
    how: { runtime },
    accelerator: runtime,
    // The runtime's stderr was opened before the request was known, so it cannot be merged into stdout.
    fits: ({ command, limits, mergesStderr }) =>
      mergesStderr !== true &&
      limits.processes >= leastPrestarted.processes &&
      limits.memoryBytes >= leastPrestarted.memoryBytes &&
      command.unlimitedStack === runtime.unlimitedStack &&
      isSameLine(command.argv, runtime.argv) &&
      !command.files.some(({ path }) => runtime.looksForBefore.includes(path)),
  }
}

function isSameLine(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, index) => word === other[index])
}

/** The places of each slot, in the order of preference. */
type Places = ReadonlyMap<Slot, ReadonlyMap<Kind, Place>>

/** @throws {SandboxError} when no box can be made on this host, or one does not isolate: with the step and the reason. */
export async function openBoxes(options: BoxOptions): Promise<Boxes> {
  const [firstSlot] = options.slots
  if (firstSlot === undefined) throw new SandboxError('slot.acquire', 'no slot was requested')
  let boxes: Boxes | null = null
  try {
    boxes = await createKeeperBoxes(options)
    const run = boxes.run.bind(null, firstSlot)
    await proveIsolation(run)
    for (const { probe } of options.forkServers) await proveIsolation(run, probe)
    return boxes
  } catch (error) {
    await boxes?.close()
    if (!(error instanceof SandboxError)) throw error
    const words = `no box can be made on this host: ${describe(error)}; \`make doctor\` says what helps`
    throw new SandboxError(error.step, words, error)
  }
}

/** @throws {SandboxError} when a plain keeper cannot be started. */
export async function createKeeperBoxes(options: BoxOptions): Promise<Boxes> {
  const { forkServers, prestartedRuntimes } = options
  const clearings = createClearings()
  const accelerators = [
    ...forkServers.map(describeForks),
    ...prestartedRuntimes.map(describePrestarted),
  ]
  const places = makePlaces([loopback, ...accelerators, plain], options, clearings)
  const listPlaces = (kind: Kind): Place[] =>
    [...places.values()].flatMap((kinds) => kinds.get(kind) ?? [])
  const starting: Promise<void>[] = []
  /** The slots whose keepers may show old files of the host. */
  const outdated = new Set<Slot>()
  const boxes: Boxes = {
    async run(slot, request, signal) {
      signal?.throwIfAborted()
      const kinds = places.get(slot)
      if (kinds === undefined)
        throw new SandboxError('slot.acquire', 'the slot belongs to another executor')
      const clear = clearings.of(slot)?.catch(rethrowAsNotStarted)
      // This takes long when a box dies late.
      if (clear) await untilAborted(untilAborted(clear, signal), request.stop)
      const hold = clearings.holdFor(slot)
      if (outdated.delete(slot)) {
        const renewed = renewPlaces(kinds)
        // If something of an old keeper stays, the slot runs nothing more.
        hold(renewed)
        await renewed.catch(rethrowAsNotStarted)
      }
      if (request.interactor)
        return runPair(options.resources, slot, request, request.interactor, hold, signal)
      return runIn(choose(kinds, request), hold, request, signal)
    },
    clearing: (slot) => clearings.of(slot),
    renew() {
      for (const slot of places.keys()) outdated.add(slot)
    },
    settled: async () => void (await Promise.all(starting)),
    async close() {
      const all = [...places.values()].flatMap((kinds) => [...kinds.values()])
      await Promise.all(all.map((place) => place.close()))
      await clearings.settled()
    },
  }

  try {
    await Promise.all(listPlaces(plain).map((place) => place.get()))
  } catch (error) {
    await boxes.close()
    throw error
  }
  for (const kind of accelerators) {
    const coming = bringUp(kind.accelerator, listPlaces(kind), options)
    // Nobody waits for runtimes. Programs that come before one has started start their own.
    if (isForkServer(kind.accelerator)) await coming
    else starting.push(coming)
  }
  return boxes
}

/** Makes empty places. Each keeper that starts there gets a new cgroup. */
function makePlaces(
  kinds: readonly Kind[],
  { slots, resources, onFallback, dyingSeconds }: BoxOptions,
  clearings: Clearings,
): Places {
  let started = 0
  const place = (slot: Slot, { how, accelerator }: Kind): Place => {
    const hold = clearings.holdFor(slot)
    return createPlace({
      async start() {
        started += 1
        const request = { name: `keeper-${started}`, uid: slot.uid, ...how }
        return { ...(await openKeeper(resources, request, hold)), runs: 0 }
      },
      hold,
      dyingSeconds,
      // The next run starts a missing plain keeper. Runs do not need an accelerator, so it is started again after a pause.
      refillMilliseconds: accelerator ? refillMilliseconds : null,
      onMissing(error) {
        if (accelerator)
          onFallback(`no ${accelerator.name} in slot ${slot.index}: ${describe(error)}`)
      },
      runsMost: isForkServer(accelerator) ? forksMost : Number.POSITIVE_INFINITY,
    })
  }
  return new Map(
    slots.map((slot) => [slot, new Map(kinds.map((kind) => [kind, place(slot, kind)]))]),
  )
}

async function renewPlaces(kinds: ReadonlyMap<Kind, Place>): Promise<void> {
  const ended = await Promise.allSettled([...kinds.values()].map((place) => place.renew()))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
}

function isForkServer(accelerator: Kind['accelerator']): accelerator is ForkServer {
  return accelerator !== undefined && 'proofs' in accelerator
}

/** Starts an accelerator in each place, and proves a fork server. Never rejects: without it programs start by themselves. */
async function bringUp(
  accelerator: ForkServer | PrestartedRuntime,
  places: readonly Place[],
  { onFallback }: BoxOptions,
): Promise<void> {
  const started = await Promise.allSettled(places.map((place) => place.get()))
  const [first] = started.flatMap((one) => (one.status === 'fulfilled' ? one.value.keeper : []))
  const forks = isForkServer(accelerator)
  try {
    for (const one of started) if (one.status === 'rejected') throw one.reason
    if (forks && first)
      await proveForks(async (asked) => judgeEnding(asked, await first.run(asked)), accelerator)
  } catch (error) {
    const what = forks ? `resident ${accelerator.name}` : `${accelerator.name} before its program`
    onFallback(`no ${what}: ${describe(error)}`)
    // When a runtime has started in another slot, places without it try again. When none has started, it is unavailable here.
    // An interpreter that started later would be unproved.
    if (!forks && first) return
    await Promise.allSettled(places.map((place) => place.close()))
  }
}

/** Returns the place where the program's interpreter or runtime has started, else where the program starts by itself. */
function choose(kinds: ReadonlyMap<Kind, Place>, request: PhaseRequest): Place {
  for (const [{ accelerator, fits }, place] of kinds) {
    // A started interpreter or runtime has read its environment already.
    const isUsable = !accelerator || (place.isReady && request.command.environment === undefined)
    if (isUsable && fits(request)) return place
  }
  throw new SandboxError('slot.acquire', 'the slot has no keeper for the program')
}

async function runIn(
  place: Place,
  hold: Hold,
  request: PhaseRequest,
  signal?: AbortSignal,
): Promise<Phase> {
  const placed = await place.get().catch(rethrowAsNotStarted)
  let evidence: Evidence
  try {
    evidence = await placed.run(request, signal)
  } catch (error) {
    if (placed.keeper.alive) throw error
    const replaced = place.replace(placed).catch(() => {})
    // The program may have started, and may be run again in another slot. So this run is killed first, if possible.
    if (!(error instanceof NotStartedError)) await replaced
    throw error
  } finally {
    const { settling } = placed.keeper
    if (settling !== null) hold(settling)
  }
  if (placed.keeper.alive) place.noteRun(placed)
  // The keeper failed after its result, which stays valid.
  else void place.replace(placed).catch(() => {})
  return judgeEnding(request, evidence)
}

function rethrowAsNotStarted(error: unknown): never {
  throw asNotStarted(error)
}
