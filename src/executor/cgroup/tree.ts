// A worker's tree of groups: a parent with one group for each keeper. Groups of dead workers are removed. `CgroupVersion` holds
// all that differs between the versions (group-v1.ts, group-v2.ts). The keeper's side is in group-v1.c and group-v2.c.
import { setTimeout as delay } from 'node:timers/promises'
import { describe, readCode, SandboxError } from '#contract'
import type { CgroupParent, KeeperGroup, LimitsTogether } from './cgroup.ts'
import { grantCores } from './cpu-quota.ts'
import { closeFiles, isMissing } from './file.ts'
import { findLimitsTogether, isAbandoned, keeperLimits } from './worker-group.ts'

/** `Group` names one group: its directory on v2, its directory in each hierarchy on v1. */
export interface CgroupVersion<Group> {
  readonly version: 'v1' | 'v2'
  /** The group below which the worker may make its own groups. */
  readonly base: Group
  descend(group: Group, name: string): Group
  listChildren(group: Group): string[]
  /** @throws {SandboxError} when the group cannot be made. */
  make(group: Group): void
  /** Sets the limits, and forbids swap. @throws {SandboxError} when a limit cannot be set. */
  limit(group: Group, limits: LimitsTogether): void
  /**
   * @param cores infinity for no limit.
   * @returns the cores that the group may use: all when the host cannot limit cores.
   * @throws {SandboxError} when the limit cannot be set.
   */
  limitCores(group: Group, cores: number): number
  /** Makes the group that a keeper enters, below a group with limits. @throws {SandboxError} when it cannot be made. */
  openKeeper(group: Group, uid: number | null): KeeperFiles
  /** True also for a group that is gone. */
  isEmpty(group: Group): boolean
  /** Kills the group's processes. A child that is forked meanwhile may be missed, so the caller repeats this. */
  kill(group: Group): Promise<void> | void
  /** Removes a group and all below it. @throws {SandboxError} step `cgroup.remove` while a process lives in it. */
  remove(group: Group): Promise<void>
}

export type KeeperFiles = Omit<
  KeeperGroup,
  'version' | 'descriptors' | 'closeDescriptors' | 'allow' | 'liftQuota' | 'remove'
> & { readonly descriptors: number[] }

/**
 * @param share cores of a box that is not allowed more.
 * @throws {SandboxError} when the parent cannot be made; nothing is left of it.
 */
export async function openTree<Group>(
  table: CgroupVersion<Group>,
  name: string,
  share: number,
): Promise<CgroupParent> {
  const { version, base } = table
  await sweep(table)
  const parent = table.descend(base, name)
  await makeOrRemove(table, parent, () => {
    table.make(parent)
    table.limit(parent, findLimitsTogether())
  })
  return {
    version,
    async createForKeeper(child, uid) {
      const group = table.descend(parent, child)
      const made = await makeOrRemove(table, group, () => {
        table.make(group)
        table.limit(group, keeperLimits)
        const cores = table.limitCores(group, share)
        return { ...table.openKeeper(group, uid), ...allowBoxes(table, group, share, cores) }
      })
      return {
        version,
        ...made,
        closeDescriptors: () => closeFiles(made.descriptors),
        async remove() {
          await killAll(table, group)
          await table.remove(group)
        },
      }
    },
    close: () => removeParent(table, parent),
  }
}

/**
 * The keeper sets the limits of its boxes. The group above it allows the keeper's own limits plus those of its largest run.
 * Successive runs mostly have equal limits, so the files are seldom written.
 * @param cores that the group may use now.
 */
function allowBoxes<Group>(
  { limit, limitCores }: CgroupVersion<Group>,
  group: Group,
  share: number,
  cores: number,
): Pick<KeeperGroup, 'allow' | 'liftQuota'> {
  let most: LimitsTogether = keeperLimits
  let granted = share
  let held = cores
  return {
    allow(box) {
      const wanted = {
        memoryBytes: Math.max(most.memoryBytes, keeperLimits.memoryBytes + box.memoryBytes),
        processes: Math.max(most.processes, keeperLimits.processes + box.processes),
      }
      if (wanted.memoryBytes > most.memoryBytes || wanted.processes > most.processes)
        limit(group, wanted)
      most = wanted
      const asked = grantCores(share, box.cores)
      if (asked !== granted) held = limitCores(group, asked)
      granted = asked
      return held
    },
    liftQuota() {
      granted = Infinity
      try {
        limitCores(group, Infinity)
      } catch {
        // If the box does not die, its keeper reports that.
      }
    },
  }
}

async function makeOrRemove<Group, Made>(
  table: CgroupVersion<Group>,
  group: Group,
  make: () => Made,
): Promise<Made> {
  try {
    return make()
  } catch (error) {
    await table.remove(group).catch(() => {})
    throw error
  }
}

async function removeParent<Group>(table: CgroupVersion<Group>, parent: Group): Promise<void> {
  for (const child of table.listChildren(parent)) await killAll(table, table.descend(parent, child))
  await table.remove(parent)
}

/** @throws {SandboxError} step `cgroup.kill` when a process still lives after five seconds. */
async function killAll<Group>(table: CgroupVersion<Group>, group: Group): Promise<void> {
  const patienceMilliseconds = 5000
  let waited = 0
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    try {
      if (table.isEmpty(group)) return
      if (waited >= patienceMilliseconds) throw new Error('its processes outlive SIGKILL')
      await table.kill(group)
    } catch (cause) {
      if (!isMissing(cause))
        throw new SandboxError(
          'cgroup.kill',
          `cannot kill ${JSON.stringify(group)}: ${describe(cause)}`,
          cause,
        )
    }
    await delay(pause)
    waited += pause
  }
}

/** Removes the groups of dead workers, except another user's. */
async function sweep<Group>(table: CgroupVersion<Group>): Promise<void> {
  for (const name of table.listChildren(table.base).filter(isAbandoned)) {
    try {
      await removeParent(table, table.descend(table.base, name))
    } catch (error) {
      const code = readCode(error)
      const isForbidden = code === 'EACCES' || code === 'EPERM'
      // A group whose processes outlive a kill stays; the next worker tries again.
      if (!isForbidden && !(error instanceof SandboxError) && !isMissing(error)) throw error
    }
  }
}
