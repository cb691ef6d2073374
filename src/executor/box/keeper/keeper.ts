// A worker's keepers: in each slot one that starts programs, one per resident interpreter (ForkServer), and one per runtime that
// is started before its program (AheadRuntime). One that fails is never used again: its cgroup is emptied and another takes its place.
import {
  beforeBegin,
  createClearings,
  describe,
  judgeEnding,
  NotBegunError,
  SandboxError,
} from '#contract'
import type {
  AheadRuntime,
  Boxes,
  BoxOptions,
  Clearings,
  Evidence,
  ForkServer,
  Phase,
  PhaseRequest,
  Slot,
} from '#contract'
import { openKeeper } from './open.ts'
import type { BoxResources, KeeperRequest } from './open.ts'
import { createPlace } from './place.ts'
import type { Place, Renewal, StandingKeeper } from './place.ts'

export { buildKeeper, builtDirectory } from './build.ts'
export { boxUid, encodeLayout, environment, readHostRoot } from './host-root.ts'
export type { Keeper } from './keeper-process.ts'
export { openKeeper } from './open.ts'
export type { BoxResources } from './open.ts'

export interface KeeperBoxOptions extends Pick<
  BoxOptions,
  'slots' | 'forkServers' | 'aheadRuntimes' | 'onFallback'
> {
  readonly resources: BoxResources
  /** Throws unless forks are boxed like everything else. */
  readonly proveForks: (
    run: (request: PhaseRequest) => Promise<Phase>,
    server: ForkServer,
  ) => Promise<void>
}

/**
 * An interpreter is replaced, as programs learn the hash seed and address layout that its forks share. The next one starts
 * when it has had so many that a busy slot's programs need not start their own meanwhile.
 */
const renewal: Renewal = { startsNext: 96, most: 128 }

/** Pause after an interpreter or a runtime could not be started. */
const refillMilliseconds = 10_000

/** With less memory the interpreter's share would be most of it: such programs start anew. */
const leastForkMemoryBytes = 32 * 1024 * 1024

/** With fewer processes or less memory a runtime might not start by itself: such programs start theirs. */
const leastAhead = { processes: 32, memoryBytes: 64 * 1024 * 1024 } as const

/** One slot's. */
interface Places {
  readonly plain: Place
  /** For programs with a network; started by the first of them. */
  readonly loopback: Place
  /** By the interpreter's command line. */
  readonly forks: ReadonlyMap<string, Place>
  /** By nameRuntime. */
  readonly ahead: ReadonlyMap<string, AheadPlace>
}

interface AheadPlace {
  readonly place: Place
  readonly looksForBefore: readonly string[]
}

/** What stands in a place; null and `loopback`: programs start by themselves, without a network or with one. */
type Standing = ForkServer | AheadRuntime | 'loopback' | null

/** @throws {SandboxError} when a plain keeper cannot be started. */
export async function createKeeperBoxes(options: KeeperBoxOptions): Promise<Boxes> {
  const clearings = createClearings()
  const places = makePlaces(options, clearings)
  const starting: Promise<void>[] = []
  const boxes: Boxes = {
    async run(slot, request, signal) {
      signal?.throwIfAborted()
      const found = places.get(slot)
      if (found === undefined) throw new SandboxError('slot.acquire', 'a slot of another executor')
      await Promise.resolve(clearings.of(slot)).catch(rethrowBeforeBegin)
      const hold = (cleared: Promise<void>): void => clearings.hold(slot, cleared)
      return runIn(choose(found, request), hold, request, signal)
    },
    clearing: (slot) => clearings.of(slot),
    settled: async () => void (await Promise.all(starting)),
    async close() {
      await Promise.all(
        [...places.values()].flatMap(({ plain, loopback, forks, ahead }) =>
          [
            plain,
            loopback,
            ...forks.values(),
            ...[...ahead.values()].map(({ place }) => place),
          ].map((one) => one.close()),
        ),
      )
      await clearings.settled()
    },
  }

  try {
    await Promise.all([...places.values()].map(({ plain }) => plain.get()))
  } catch (error) {
    await boxes.close()
    throw error
  }
  for (const server of options.forkServers) {
    const standing = [...places.values()].flatMap(
      ({ forks }) => forks.get(nameLine(server.argv)) ?? [],
    )
    await raise(server, standing, options)
  }
  for (const runtime of options.aheadRuntimes) {
    const standing = [...places.values()].flatMap(
      ({ ahead }) => ahead.get(nameRuntime(runtime))?.place ?? [],
    )
    // Programs that come sooner start theirs.
    starting.push(startAhead(runtime, standing, options))
  }
  return boxes
}

/** Makes empty places. */
function makePlaces(options: KeeperBoxOptions, clearings: Clearings): ReadonlyMap<Slot, Places> {
  const start = createStart(options, clearings)
  const place = (slot: Slot, standing: Standing): Place =>
    createPlace({
      start: () => start(slot, standing),
      onLeft: (cleared) => clearings.hold(slot, cleared),
      // The next run starts a missing plain keeper; without the others runs are only slower.
      refillMilliseconds: isAccelerator(standing) ? refillMilliseconds : null,
      onMissing: (error) => {
        if (isAccelerator(standing))
          options.onFallback(`no ${standing.name} in slot ${slot.index}: ${describe(error)}`)
      },
      renewal: isForkServer(standing) ? renewal : null,
    })
  return new Map(
    options.slots.map((slot) => [
      slot,
      {
        plain: place(slot, null),
        loopback: place(slot, 'loopback'),
        forks: new Map(
          options.forkServers.map((server) => [nameLine(server.argv), place(slot, server)]),
        ),
        ahead: new Map(
          options.aheadRuntimes.map((runtime) => [
            nameRuntime(runtime),
            { place: place(slot, runtime), looksForBefore: runtime.looksForBefore },
          ]),
        ),
      },
    ]),
  )
}

function isAccelerator(standing: Standing): standing is ForkServer | AheadRuntime {
  return standing !== null && standing !== 'loopback'
}

function isForkServer(standing: Standing): standing is ForkServer {
  return isAccelerator(standing) && 'proofs' in standing
}

type Start = (slot: Slot, standing: Standing) => Promise<StandingKeeper>

function describeStanding(
  standing: Standing,
): Pick<KeeperRequest, 'interpreter' | 'runtime' | 'network'> {
  if (standing === 'loopback') return { network: 'loopback' }
  return isForkServer(standing) ? { interpreter: standing.argv } : { runtime: standing }
}

/** Starts keepers, each in a new cgroup. */
function createStart({ resources }: KeeperBoxOptions, clearings: Clearings): Start {
  let started = 0
  return async (slot, standing) => {
    started += 1
    const request = { name: `keeper-${started}`, uid: slot.uid, ...describeStanding(standing) }
    const opened = await openKeeper(resources, request, (removal) => clearings.hold(slot, removal))
    return { ...opened, runs: 0 }
  }
}

/** Starts an interpreter in each place and proves one. Never rejects: without it programs start anew. */
async function raise(
  server: ForkServer,
  standing: readonly Place[],
  { proveForks, onFallback }: KeeperBoxOptions,
): Promise<void> {
  try {
    const [first] = await Promise.all(standing.map((one) => one.get()))
    if (first === undefined) return
    await proveForks(
      async (request) => judgeEnding(request, await first.keeper.run(request)),
      server,
    )
  } catch (error) {
    onFallback(`no resident ${server.name}: ${describe(error)}`)
    // An interpreter that came up later would be unproved.
    for (const one of standing) await one.close()
  }
}

/** Starts one in each place. Never rejects: without it programs start theirs. */
async function startAhead(
  { name }: AheadRuntime,
  standing: readonly Place[],
  { onFallback }: KeeperBoxOptions,
): Promise<void> {
  const started = await Promise.allSettled(standing.map((one) => one.get()))
  const failure = started.find((one) => one.status === 'rejected')
  if (failure === undefined) return
  onFallback(`no ${name} before its program: ${describe(failure.reason)}`)
  // In a place beside one that has it, it is tried again; where none has it, it cannot be had. Nothing runs there.
  if (started.some((one) => one.status === 'fulfilled')) return
  await Promise.allSettled(standing.map((one) => one.close()))
}

/** Programs with the same words and the same stack may run in it. */
function nameRuntime({
  argv,
  unlimitedStack,
}: Pick<AheadRuntime, 'argv' | 'unlimitedStack'>): string {
  return nameLine([String(unlimitedStack), ...argv])
}

function nameLine(argv: readonly string[]): string {
  return argv.join('\0')
}

function choose(places: Places, request: PhaseRequest): Place {
  if (request.network === 'loopback') return places.loopback
  const place = find(places, request)
  return place?.isReady === true ? place : places.plain
}

/** Where what the program needs is up already. */
function find({ forks, ahead }: Places, { command, limits }: PhaseRequest): Place | undefined {
  const line = nameLine(command.argv)
  // What is up already has read its variables.
  if (command.environment !== undefined) return undefined
  if (command.forks === true)
    return limits.memoryBytes < leastForkMemoryBytes ? undefined : forks.get(line)
  const isOrdinary =
    limits.processes >= leastAhead.processes && limits.memoryBytes >= leastAhead.memoryBytes
  const found = isOrdinary ? ahead.get(nameRuntime(command)) : undefined
  const isTooLate = command.files.some(({ path }) => found?.looksForBefore.includes(path))
  return isTooLate ? undefined : found?.place
}

type Hold = (cleared: Promise<void>) => void

async function runIn(
  place: Place,
  hold: Hold,
  request: PhaseRequest,
  signal?: AbortSignal,
): Promise<Phase> {
  place.isBusy = true
  try {
    return await runInThat(place, hold, request, signal)
  } finally {
    place.isBusy = false
  }
}

async function runInThat(
  place: Place,
  hold: Hold,
  request: PhaseRequest,
  signal?: AbortSignal,
): Promise<Phase> {
  const standing = await place.get().catch(rethrowBeforeBegin)
  let evidence: Evidence
  try {
    evidence = await standing.keeper.run(
      { ...request, cores: limitCores(standing, request) },
      signal,
    )
  } catch (error) {
    if (standing.keeper.alive) throw error
    const replaced = place.replace(standing).catch(() => {})
    // The program may have begun, and may run again elsewhere: this one ends first, if a kill can end it.
    if (!(error instanceof NotBegunError)) await replaced
    throw error
  } finally {
    const { settling } = standing.keeper
    if (settling !== null) hold(settling)
  }
  if (standing.keeper.alive) place.noteRun(standing)
  // It failed after the result, which stands.
  else void place.replace(standing).catch(() => {})
  return judgeEnding(request, evidence)
}

function limitCores({ group }: StandingKeeper, { cores }: PhaseRequest): number {
  try {
    return group.limitCores(cores)
  } catch (error) {
    throw beforeBegin(error)
  }
}

function rethrowBeforeBegin(error: unknown): never {
  throw beforeBegin(error)
}
