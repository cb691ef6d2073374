// A keeper in a group of its own: of a slot, or of a resident compiler.
import type { CgroupParent, KeeperGroup } from '#cgroup'
import type { AheadRuntime, Network } from '#contract'
import type { KeeperPrograms } from './build.ts'
import type { Layout } from './host-root.ts'
import { startKeeper } from './keeper-process.ts'
import type { Keeper } from './keeper-process.ts'

/** What all keepers of a worker are made with. */
export interface BoxResources {
  readonly cgroups: CgroupParent
  readonly filter: Buffer
  /** The keeper's own. */
  readonly keeperFilter: Buffer
  /** The same of keepers whose boxes have a network. */
  readonly loopback: { readonly filter: Buffer; readonly keeperFilter: Buffer }
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
  readonly runtime?: AheadRuntime | null
  /** Its program's stdin and stdout are the keeper's own. */
  readonly ownStreams?: boolean
  /** `loopback`: each box has one of its own. */
  readonly network?: Network
}

/**
 * @param clear is given the removal of a group whose keeper did not start.
 * @throws {NotBegunError} step `keeper.start`, {SandboxError} of the group.
 */
export async function openKeeper(
  { cgroups, programs, layout, loopback, ...usual }: BoxResources,
  {
    name,
    uid,
    interpreter = null,
    runtime = null,
    ownStreams = false,
    network = 'none',
  }: KeeperRequest,
  clear: (removal: Promise<void>) => Promise<void> | void,
): Promise<{ readonly keeper: Keeper; readonly group: KeeperGroup }> {
  const group = await cgroups.createForKeeper(name, uid)
  const program = interpreter === null ? programs.program : programs.forkLibrary
  try {
    const filters = network === 'loopback' ? loopback : usual
    const how = { interpreter, runtime, ownStreams, loopback: network === 'loopback' }
    const launch = { ...filters, layout, group, uid, program, ...how }
    return { keeper: await startKeeper(launch), group }
  } catch (error) {
    await clear(group.remove())
    throw error
  } finally {
    group.closeDescriptors()
  }
}
