// A keeper in a group of its own: of a slot, or of a resident compiler.
import type { CgroupParent, KeeperGroup } from '#cgroup'
import { asNotStarted } from '#contract'
import type { Evidence, Network, PhaseRequest } from '#contract'
import type { KeeperPrograms } from './build.ts'
import type { Layout } from './host-root.ts'
import { startKeeper } from './keeper-process.ts'
import type { Keeper } from './keeper-process.ts'
import type { KeeperLaunch } from './launch.ts'

/** What all keepers of a worker are made with. */
export interface BoxResources {
  readonly cgroups: CgroupParent
  /** By the network of a keeper's boxes. */
  readonly filters: Readonly<Record<Network, Pick<KeeperLaunch, 'filter' | 'keeperFilter'>>>
  readonly programs: KeeperPrograms
  /** What boxes show of the host (encodeLayout). */
  readonly layout: Layout
}

/** What differs between them. */
export interface KeeperRequest extends Pick<
  KeeperLaunch,
  'uid' | 'interpreter' | 'runtime' | 'ownStreams' | 'network'
> {
  /** The group's; unique in the worker. */
  readonly name: string
}

export interface OpenKeeper {
  readonly keeper: Keeper
  readonly group: KeeperGroup
  /** As the keeper's own, within what its group then allows. */
  run(request: PhaseRequest, signal?: AbortSignal): Promise<Evidence>
  /** Ends it. Resolves when nothing of it is left. @throws {SandboxError} of the group. */
  close(): Promise<void>
}

/**
 * @param clear is given the removal of a group whose keeper did not start.
 * @throws {NotStartedError} step `keeper.start`, {SandboxError} of the group.
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

/** @returns the cores that its box has. */
function allow(group: KeeperGroup, { command, stdin, limits, cores }: PhaseRequest): number {
  const { memoryBytes, processes } = limits
  // On v1 these stand in the same group, and count for no program.
  const given = [stdin, ...command.files.map(({ content }) => content)]
  const givenBytes = given.reduce((sum, { length }) => sum + length, 0)
  try {
    return group.allow({ cores, memoryBytes: memoryBytes + givenBytes, processes })
  } catch (error) {
    throw asNotStarted(error)
  }
}
