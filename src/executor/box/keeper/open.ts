// A keeper in a group of its own: of a slot, or of a resident compiler.
import type { CgroupParent, KeeperGroup } from '#cgroup'
import { asNotStarted, NotStartedError } from '#contract'
import type { PrestartedRuntime, Evidence, Network, PhaseRequest } from '#contract'
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

export interface KeeperRequest {
  /** The group's; unique in the worker. */
  readonly name: string
  /** Host uid; null: the worker's own. */
  readonly uid: number | null
  /** That programs are forked from; null: they start by exec. */
  readonly interpreter?: readonly string[] | null
  /** Started before each program. */
  readonly runtime?: PrestartedRuntime | null
  /** Its program's stdin and stdout are the keeper's own. */
  readonly ownStreams?: boolean
  /** `loopback`: each box has one of its own. */
  readonly network?: Network
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
  {
    name,
    uid,
    interpreter = null,
    runtime = null,
    ownStreams = false,
    network = 'none',
  }: KeeperRequest,
  clear: (removal: Promise<void>) => Promise<void> | void,
): Promise<OpenKeeper> {
  const group = await cgroups.createForKeeper(name, uid)
  const program = interpreter === null ? programs.program : programs.forkLibrary
  try {
    const how = { interpreter, runtime, ownStreams, loopback: network === 'loopback' }
    const launch = { ...filters[network], layout, group, uid, program, ...how }
    const keeper = await startKeeper(launch)
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

/** One whose program has the keeper's own stdin and stdout. */
export interface SpokenKeeper extends OpenKeeper {
  readonly streams: NonNullable<Keeper['streams']>
}

/** For one run, which reports what becomes of the streams. @throws as `openKeeper`. */
export async function openSpokenKeeper(
  ...[resources, request, clear]: Parameters<typeof openKeeper>
): Promise<SpokenKeeper> {
  const opened = await openKeeper(resources, { ...request, ownStreams: true }, clear)
  const { streams } = opened.keeper
  if (streams === null) throw new NotStartedError('keeper.start', 'no streams')
  const both = [streams.input, streams.output]
  for (const stream of both) stream.on('error', () => {})
  return {
    ...opened,
    streams,
    async close() {
      for (const stream of both) stream.destroy()
      await opened.close()
    },
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
