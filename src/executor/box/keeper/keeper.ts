// The keepers of a worker: one a slot, and one more a slot in each interpreter that is to be up (ForkServer).
// A keeper that fails in any way is never used again: what is in its cgroup is killed and another one takes its place.
import {
  beforeBegin,
  createClearings,
  describe,
  judgeEnding,
  NotBegunError,
  SandboxError,
} from '#contract'
import type { Boxes, BoxOptions, Evidence, ForkServer, Phase, PhaseRequest, Slot } from '#contract'
import type { BoxResources } from '#bubblewrap'
import { startKeeper } from './keeper-process.ts'
import { createPlace } from './place.ts'
import type { Place, StandingKeeper } from './place.ts'
import type { KeeperPrograms } from './build.ts'

export { buildKeeper, compileOptions, programSources, sourceDirectory } from './build.ts'

export interface KeeperBoxOptions extends Pick<BoxOptions, 'slots' | 'forkServers' | 'onFallback'> {
  readonly resources: BoxResources
  readonly programs: KeeperPrograms
  readonly layout: Buffer
  /** Throws unless what runs in forks of the interpreter is boxed as everything else. */
  readonly proveForks: (
    run: (request: PhaseRequest) => Promise<Phase>,
    server: ForkServer,
  ) => Promise<void>
}

/** A resident interpreter is replaced after so many: its forks share its hash seed and address layout, which programs learn. */
const forksMost = 128

/** After a resident interpreter could not be started, the next is tried so much later. */
const refillMilliseconds = 10_000

/** A program with less memory than this is started anew: a resident interpreter's own share would be most of it. */
const leastForkMemoryBytes = 32 * 1024 * 1024

/** What a slot has. */
interface Places {
  readonly plain: Place
  /** For keepers that run programs in forks of their interpreter, by its command line. */
  readonly forks: ReadonlyMap<string, Place>
}

/** @throws {SandboxError} when a keeper cannot be started. */
export async function createKeeperBoxes({
  resources,
  programs,
  layout,
  slots,
  forkServers,
  onFallback,
  proveForks,
}: KeeperBoxOptions): Promise<Boxes> {
  const clearings = createClearings()
  let started = 0

  async function start(slot: Slot, server: ForkServer | null): Promise<StandingKeeper> {
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

  const place = (slot: Slot, server: ForkServer | null): Place =>
    createPlace({
      start: () => start(slot, server),
      onLeft: (cleared) => clearings.hold(slot, cleared),
      // Without a plain keeper the next run starts one; without an interpreter runs go on, only slower.
      refillMilliseconds: server === null ? null : refillMilliseconds,
      runsMost: server === null ? Number.POSITIVE_INFINITY : forksMost,
    })
  const places = new Map<Slot, Places>(
    slots.map((slot) => {
      const forks = forkServers.map(
        (server) => [nameLine(server.argv), place(slot, server)] as const,
      )
      return [slot, { plain: place(slot, null), forks: new Map(forks) }]
    }),
  )
  const boxes: Boxes = {
    kind: 'keeper',
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
  for (const server of forkServers) {
    const standing = [...places.values()].flatMap(
      ({ forks }) => forks.get(nameLine(server.argv)) ?? [],
    )
    await raise(server, standing)
  }
  return boxes

  /** Starts an interpreter in each of its places, and proves one. Never rejects: programs are started anew instead. */
  async function raise(server: ForkServer, standing: readonly Place[]): Promise<void> {
    try {
      const [first] = await Promise.all(standing.map((one) => one.get()))
      if (first === undefined) return
      await proveForks(
        async (request) => judgeEnding(request, await first.keeper.run(request)),
        server,
      )
    } catch (error) {
      onFallback(`no resident ${server.name}: ${describe(error)}`)
      // Given up for good: what would come up later has not been proved.
      for (const one of standing) await one.close()
    }
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
    // A program that has run may run again elsewhere: not while this one still does, if a kill can end it.
    if (!(error instanceof NotBegunError)) await replaced
    throw error
  }
  if (standing.keeper.alive) place.noteRun(standing)
  // It has failed after the result, which stands.
  else void place.replace(standing).catch(() => {})
  return judgeEnding(request, evidence)
}

function rethrowBeforeBegin(error: unknown): never {
  throw beforeBegin(error)
}
