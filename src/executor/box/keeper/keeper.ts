// A worker's keepers: in each slot one that starts programs, and one per resident interpreter (ForkServer). One that
// fails is never used again: its cgroup is emptied and another takes its place.
import type { BoxResources } from '#bubblewrap'
import {
  beforeBegin,
  createClearings,
  describe,
  judgeEnding,
  NotBegunError,
  SandboxError,
} from '#contract'
import type {
  Boxes,
  BoxOptions,
  Clearings,
  Evidence,
  ForkServer,
  Phase,
  PhaseRequest,
  Slot,
} from '#contract'
import type { KeeperPrograms } from './build.ts'
import { startKeeper } from './keeper-process.ts'
import { createPlace } from './place.ts'
import type { Place, StandingKeeper } from './place.ts'

export { buildKeeper, compileOptions, programSources, sourceDirectory } from './build.ts'

export interface KeeperBoxOptions extends Pick<BoxOptions, 'slots' | 'forkServers' | 'onFallback'> {
  readonly resources: BoxResources
  readonly programs: KeeperPrograms
  readonly layout: Buffer
  /** Throws unless forks are boxed like everything else. */
  readonly proveForks: (
    run: (request: PhaseRequest) => Promise<Phase>,
    server: ForkServer,
  ) => Promise<void>
}

/** Then an interpreter is replaced: programs learn the hash seed and address layout that its forks share. */
const forksMost = 128

/** Pause after an interpreter could not be started. */
const refillMilliseconds = 10_000

/** With less memory the interpreter's share would be most of it: such programs start anew. */
const leastForkMemoryBytes = 32 * 1024 * 1024

/** One slot's. */
interface Places {
  readonly plain: Place
  /** By the interpreter's command line. */
  readonly forks: ReadonlyMap<string, Place>
}

/** @throws {SandboxError} when a plain keeper cannot be started. */
export async function createKeeperBoxes(options: KeeperBoxOptions): Promise<Boxes> {
  const clearings = createClearings()
  const places = makePlaces(options, clearings)
  const boxes: Boxes = {
    kind: 'keeper',
    readsOutputFiles: true,
    async run(slot, request, signal) {
      signal?.throwIfAborted()
      const found = places.get(slot)
      if (found === undefined) throw new SandboxError('slot.acquire', 'a slot of another executor')
      await Promise.resolve(clearings.of(slot)).catch(rethrowBeforeBegin)
      return runIn(choose(found, request), request, signal)
    },
    clearing: (slot) => clearings.of(slot),
    async close() {
      await Promise.all(
        [...places.values()].flatMap(({ plain, forks }) =>
          [plain, ...forks.values()].map((one) => one.close()),
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
  return boxes
}

/** Makes empty places. */
function makePlaces(options: KeeperBoxOptions, clearings: Clearings): ReadonlyMap<Slot, Places> {
  const start = createStart(options, clearings)
  const place = (slot: Slot, server: ForkServer | null): Place =>
    createPlace({
      start: () => start(slot, server),
      onLeft: (cleared) => clearings.hold(slot, cleared),
      // The next run starts a missing plain keeper; without an interpreter runs are only slower.
      refillMilliseconds: server === null ? null : refillMilliseconds,
      runsMost: server === null ? Number.POSITIVE_INFINITY : forksMost,
    })
  return new Map(
    options.slots.map((slot) => {
      const forks = options.forkServers.map(
        (server) => [nameLine(server.argv), place(slot, server)] as const,
      )
      return [slot, { plain: place(slot, null), forks: new Map(forks) }]
    }),
  )
}

type Start = (slot: Slot, server: ForkServer | null) => Promise<StandingKeeper>

/** Starts keepers, each in a new cgroup. */
function createStart(
  { resources, programs, layout }: KeeperBoxOptions,
  clearings: Clearings,
): Start {
  let started = 0
  return async (slot, server) => {
    started += 1
    const group = await resources.cgroups.createForKeeper(`keeper-${started}`, slot.uid)
    try {
      const keeper = await startKeeper({
        group,
        uid: slot.uid,
        filter: resources.filter,
        layout,
        program: server === null ? programs.program : programs.forkLibrary,
        interpreter: server?.argv ?? null,
      })
      return { keeper, group, runs: 0 }
    } catch (error) {
      clearings.hold(slot, group.remove())
      throw error
    } finally {
      group.closeDescriptors()
    }
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

function nameLine(argv: readonly string[]): string {
  return argv.join('\0')
}

function choose({ plain, forks }: Places, { command, limits }: PhaseRequest): Place {
  if (command.forks !== true || limits.memoryBytes < leastForkMemoryBytes) return plain
  const place = forks.get(nameLine(command.argv))
  return place?.isReady === true ? place : plain
}

async function runIn(place: Place, request: PhaseRequest, signal?: AbortSignal): Promise<Phase> {
  const standing = await place.get().catch(rethrowBeforeBegin)
  let evidence: Evidence
  try {
    evidence = await standing.keeper.run(request, signal)
  } catch (error) {
    if (standing.keeper.alive) throw error
    const replaced = place.replace(standing).catch(() => {})
    // The program may have begun, and may run again elsewhere: this one ends first, if a kill can end it.
    if (!(error instanceof NotBegunError)) await replaced
    throw error
  }
  if (standing.keeper.alive) place.noteRun(standing)
  // It failed after the result, which stands.
  else void place.replace(standing).catch(() => {})
  return judgeEnding(request, evidence)
}

function rethrowBeforeBegin(error: unknown): never {
  throw beforeBegin(error)
}
