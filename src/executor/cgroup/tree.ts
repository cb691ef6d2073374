// A worker's tree of groups: the parent, one group for each keeper, what dead workers left. The table below is all that a
// version of cgroups differs in; group-v1.ts and group-v2.ts are its rows, as group-v1.c and group-v2.c are the keeper's.
import { setTimeout as delay } from 'node:timers/promises'
import { describe, readCode, SandboxError } from '#contract'
import type { CgroupParent, KeeperGroup, LimitsTogether } from './cgroup.ts'
import { grantCores } from './cpu-quota.ts'
import { closeFiles, isMissing } from './file.ts'
import { findLimitsTogether, isAbandoned, keeperLimits } from './worker-group.ts'

/** `Group` is what names one group: its directory, or one in each hierarchy. */
export interface CgroupVersion<Group> {
  readonly version: 'v1' | 'v2'
  /** Where the worker may make its own. */
  readonly base: Group
  descend(group: Group, name: string): Group
  /** Names of the groups below. */
  listChildren(group: Group): string[]
  /** @throws {SandboxError} when it cannot be made. */
  make(group: Group): void
  /** Swap is none. @throws {SandboxError} when it cannot be limited. */
  limit(group: Group, limits: LimitsTogether): void
  /** @returns how many hold. @throws {SandboxError} when the limit cannot be set. */
  limitCores(group: Group, cores: number): number
  /** Where a keeper enters, below a group that is limited. @throws {SandboxError} when it cannot be made. */
  openKeeper(group: Group, uid: number | null): KeeperFiles
  /** True for a group that is gone. */
  isEmpty(group: Group): boolean
  /** What forks meanwhile may be missed: it is called until the group is empty. */
  kill(group: Group): Promise<void> | void
  /** With those below. @throws {SandboxError} step `cgroup.remove` while anything lives in it. */
  remove(group: Group): Promise<void>
}

export type KeeperFiles = Omit<
  KeeperGroup,
  'version' | 'descriptors' | 'closeDescriptors' | 'allow' | 'remove'
> & { readonly descriptors: number[] }

/**
 * @param share cores of a box that is not to have more.
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
        return { ...table.openKeeper(group, uid), allow: allowBoxes(table, group, share, cores) }
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
 * Above a keeper, which sets its boxes' limits, the kernel holds it to what the largest of its runs may use and its own. Runs in a
 * row want the same, so it is seldom written.
 * @param cores that hold until then.
 */
function allowBoxes<Group>(
  { limit, limitCores }: CgroupVersion<Group>,
  group: Group,
  share: number,
  cores: number,
): KeeperGroup['allow'] {
  let most: LimitsTogether = keeperLimits
  let granted = share
  let held = cores
  return (box) => {
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

/** Kills and removes everything below, then the parent. */
async function removeParent<Group>(table: CgroupVersion<Group>, parent: Group): Promise<void> {
  for (const child of table.listChildren(parent)) await killAll(table, table.descend(parent, child))
  await table.remove(parent)
}

/** @throws {SandboxError} step `cgroup.kill` when something still lives after five seconds. */
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

/** Removes dead workers' groups, but not another user's. */
async function sweep<Group>(table: CgroupVersion<Group>): Promise<void> {
  for (const name of table.listChildren(table.base).filter(isAbandoned)) {
    try {
      await removeParent(table, table.descend(table.base, name))
    } catch (error) {
      const code = readCode(error)
      const isForbidden = code === 'EACCES' || code === 'EPERM'
      // What outlives a kill the next worker tries again.
      if (!isForbidden && !(error instanceof SandboxError) && !isMissing(error)) throw error
    }
  }
}
