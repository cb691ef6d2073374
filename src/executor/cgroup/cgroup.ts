// One interface over cgroups v1 and v2, and the choice between them.
import { readFileSync } from 'node:fs'
import { SandboxError } from '#contract'
import { findVersionOne } from './group-v1.ts'
import { findVersionTwo } from './group-v2.ts'
import { openTree } from './tree.ts'

export { readPids } from './file.ts'
export { shareCores } from './cpu-quota.ts'
export { nameWorkerGroup } from './worker-group.ts'

/** The cgroup of a keeper and its boxes (keeper/group.c). */
export interface KeeperGroup {
  readonly version: 'v1' | 'v2'
  /** True when the keeper must limit swap, too. */
  readonly countsSwap: boolean
  /** True when groups share the CPU, so that the idle class has an effect only inside this group. */
  readonly sharesCpu: boolean
  /** The `cgroup.procs` files into which the keeper writes itself. */
  readonly entrances: readonly string[]
  /** Files in the order of keeper/group.h. The caller closes them when the keeper has started. */
  readonly descriptors: readonly number[]
  closeDescriptors(): void
  /**
   * Allows the next box this much, in addition to the keeper's own limits.
   * @returns how many cores the box may use at once; all of them when the host cannot limit cores.
   * @throws {SandboxError} when a limit cannot be set.
   */
  allow(box: Allowance): number
  /**
   * Lets the group use all cores until the next `allow`, so that a box dies at once. Since Linux 6.18 a group may owe seconds
   * of CPU time that its processes used inside the kernel, and until then neither they nor the keeper run.
   */
  liftQuota(): void
  /** @throws when the group is gone. */
  readCounters(): GroupCounters
  /**
   * Kills the keeper and its processes; resolves when nothing is left.
   * @throws {SandboxError}
   */
  remove(): Promise<void>
}

/** Limits of a group together with all groups below it. */
export interface LimitsTogether {
  readonly memoryBytes: number
  readonly processes: number
}

/** Limits of a box. */
export interface Allowance extends LimitsTogether {
  /** Cores at once: at least a slot's share, which is also the default. */
  readonly cores?: number | undefined
}

export interface GroupCounters {
  /** User + system time since the group was made. */
  readonly cpuSeconds: number
  /** Memory that is charged now. */
  readonly memoryBytes: number
}

export interface CgroupParent {
  readonly version: 'v1' | 'v2'
  /**
   * @param uid of the keeper; null when it runs as the worker's user.
   * @throws {SandboxError} when a limit cannot be set; nothing is left behind.
   */
  createForKeeper(name: string, uid: number | null): Promise<KeeperGroup>
  /** Kills and removes everything below, then the parent. */
  close(): Promise<void>
}

export interface Hierarchy {
  readonly type: 'cgroup' | 'cgroup2'
  readonly mountPoint: string
  /** v1 controllers; empty for v2. */
  readonly controllers: readonly string[]
  /** This process's group. */
  readonly ownGroup: string
}

/**
 * Makes the worker's cgroup `name`, and removes those of dead workers. v1 is used when it has the memory controller, else v2.
 * @param cores that each group may use at once unless its box is allowed more.
 * @throws {SandboxError} when the limits cannot be enforced.
 */
export async function openCgroupParent(name: string, cores = 1): Promise<CgroupParent> {
  const hierarchies = readHierarchies()
  const unified = hierarchies.find((hierarchy) => hierarchy.type === 'cgroup2')
  const memory = hierarchies.find((hierarchy) => hierarchy.controllers.includes('memory'))
  if (memory !== undefined) return openTree(findVersionOne(hierarchies), name, cores)
  if (unified !== undefined) return openTree(findVersionTwo(unified), name, cores)
  throw new SandboxError(
    'cgroup.find',
    'no memory cgroup is mounted; mount cgroup2 on /sys/fs/cgroup',
  )
}

/** Finds the mounted hierarchies. Formats: cgroups(7), proc_pid_mountinfo(5). */
export function readHierarchies(
  mountinfo: string = readFileSync('/proc/self/mountinfo', 'utf8'),
  membership: string = readFileSync('/proc/self/cgroup', 'utf8'),
): Hierarchy[] {
  const paths = new Map<string, string>()
  for (const line of membership.trim().split('\n')) {
    const [, controllers = '', ...path] = line.split(':')
    for (const controller of controllers.split(',')) paths.set(controller, path.join(':'))
  }
  const found: Hierarchy[] = []
  for (const line of mountinfo.trim().split('\n')) {
    const fields = line.split(' ')
    const separator = fields.indexOf('-')
    const type = fields[separator + 1]
    const root = unescapePath(fields[3] ?? '/')
    const mountPoint = unescapePath(fields[4] ?? '/')
    if (type !== 'cgroup' && type !== 'cgroup2') continue
    if (found.some((hierarchy) => hierarchy.mountPoint === mountPoint)) continue
    const options = (fields[separator + 3] ?? '').split(',')
    const controllers = type === 'cgroup' ? options.filter((option) => paths.has(option)) : []
    const path = paths.get(controllers[0] ?? '')
    if (path === undefined || (type === 'cgroup' && controllers.length === 0)) continue
    // A container may see only a subtree. The mount's root is then the path of that subtree.
    const below = root === '/' ? path : path.startsWith(`${root}/`) ? path.slice(root.length) : '/'
    const ownGroup = below === '/' ? mountPoint : mountPoint + below
    found.push({ type, mountPoint, controllers, ownGroup })
  }
  return found
}

/** Decodes the octal escapes in mountinfo. */
function unescapePath(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
