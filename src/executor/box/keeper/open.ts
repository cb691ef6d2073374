// Starts a keeper in a new cgroup: for a slot, or for a resident compiler.
import type { CgroupParent, KeeperGroup } from '#cgroup'
import { asNotStarted } from '#contract'
import type { Evidence, Network, PhaseRequest } from '#contract'
import type { KeeperPrograms } from './build.ts'
import type { Layout } from './host-root.ts'
import { startKeeper } from './keeper-process.ts'
import type { Keeper } from './keeper-process.ts'
import type { KeeperLaunch } from './launch.ts'

/** What all keepers of a worker have in common. */
export interface BoxResources {
  readonly cgroups: CgroupParent
  /** The filters, by the network of a keeper's boxes. */
  readonly filters: Readonly<Record<Network, Pick<KeeperLaunch, 'filter' | 'keeperFilter'>>>
  readonly programs: KeeperPrograms
  /** The host paths that boxes show (encodeLayout). */
  readonly layout: Layout
}

/** What differs between keepers. */
export interface KeeperRequest extends Pick<
  KeeperLaunch,
  'uid' | 'interpreter' | 'runtime' | 'ownStreams' | 'network'
> {
  /** Name of the cgroup, unique in the worker. */
  readonly name: string
}

export interface OpenKeeper {
  readonly keeper: Keeper
  readonly group: KeeperGroup
  /** Sets the limits of the keeper's group, then runs the program (Keeper.run). */
  run(request: PhaseRequest, signal?: AbortSignal): Promise<Evidence>
  /** Ends the keeper and removes its group, with all processes. @throws {SandboxError} when the group cannot be removed. */
  close(): Promise<void>
}

/**
 * @param clear gets the removal of the group when the keeper did not start.
 * @throws {NotStartedError} step `keeper.start`; {SandboxError} when the group cannot be made.
 */
export async function openKeeper(
  { cgroups, filters, programs, layout }: BoxResources,
  { name, ...how }: KeeperRequest,
  clear: (removal: Promise<void>) => Promise<void> | void,
): Promise<OpenKeeper> {
  const group = await cgroups.createForKeeper(name, how.uid)
  const program = how.interpreter ? programs.forkLibrary : programs.program
  try {
    const filter = filters[how.network ?? 'none']
    const keeper = await startKeeper({ ...how, ...filter, layout, group, program })
    return {
      keeper,
      group,
      run: async (request, signal) =>
        keeper.run({ ...request, cores: allow(group, request) }, signal),
      async close() {
        await keeper.close()
        await group.remove()
      },
    }
  } catch (error) {
    await clear(group.remove())
    throw error
  } finally {
    group.closeDescriptors()
  }
}

/** @returns the cores that the box may use. */
function allow(group: KeeperGroup, request: PhaseRequest): number {
  const { command, stdin = new Uint8Array(), limits, cores } = request
  const { memoryBytes, processes } = limits
  // On v1 the input and the files are charged to the keeper's group, but do not count towards the program's limit.
  const given = [stdin, ...command.files.map(({ content }) => content)]
  const givenBytes = given.reduce((sum, { length }) => sum + length, 0)
  try {
    return group.allow({ cores, memoryBytes: memoryBytes + givenBytes, processes })
  } catch (error) {
    throw asNotStarted(error)
  }
}
