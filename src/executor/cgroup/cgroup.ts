// One interface over cgroups v1 and v2, and the choice between them.
import { readFileSync } from 'node:fs'
import { SandboxError } from '#contract'
import { findVersionOne } from './group-v1.ts'
import { findVersionTwo } from './group-v2.ts'
import { openTree } from './tree.ts'

export { readPids } from './file.ts'
export { shareCores } from './cpu-quota.ts'
export { nameWorkerGroup } from './worker-group.ts'

/** Where a keeper (keeper/group.c) stands. */
export interface KeeperGroup {
  readonly version: 'v1' | 'v2'
  /** The keeper must limit swap too. */
  readonly countsSwap: boolean
  /** Groups share the CPU, so the idle class counts only inside this one. */
  readonly sharesCpu: boolean
  /** The `cgroup.procs` files where the keeper enters. */
  readonly entrances: readonly string[]
  /** In the order of keeper/group.h; close them once the keeper has started. */
  readonly descriptors: readonly number[]
  closeDescriptors(): void
  /**
   * Lets its next box use so much, beside what the keeper itself may.
   * @returns how many cores it may use at once; all of them where the host does not limit that.
   * @throws {SandboxError} when a limit cannot be set.
   */
  allow(box: Allowance): number
  /** Of all in it. @throws when it is gone. */
  readCounters(): GroupCounters
  /**
   * Kills the keeper and its processes; resolves when nothing is left.
   * @throws {SandboxError}
   */
  remove(): Promise<void>
}

/** Of a group and all below it. */
export interface LimitsTogether {
  readonly memoryBytes: number
  readonly processes: number
}

/** Of a box. */
export interface Allowance extends LimitsTogether {
  /** At once; the share of a slot unless that is less. */
  readonly cores?: number | undefined
}

export interface GroupCounters {
  /** User + system time since it was made. */
  readonly cpuSeconds: number
  /** Charged now. */
  readonly memoryBytes: number
  /** Processes that the out-of-memory killer ended. */
  readonly outOfMemoryKills: number
}

export interface CgroupParent {
  readonly version: 'v1' | 'v2'
  /**
   * @param uid of the keeper; null: the worker's own.
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
 * Makes the worker's cgroup `name` and sweeps what dead workers left. v2 is used when it has the memory controller,
 * else v1.
 * @param cores that each group may use at once, unless it is to have more.
 * @throws {SandboxError} when neither can enforce the limits.
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

/** Formats: cgroups(7), proc_pid_mountinfo(5). */
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
    // A container may see only a subtree, whose path is then the mount's root.
    const below = root === '/' ? path : path.startsWith(`${root}/`) ? path.slice(root.length) : '/'
    const ownGroup = below === '/' ? mountPoint : mountPoint + below
    found.push({ type, mountPoint, controllers, ownGroup })
  }
  return found
}

/** mountinfo writes blanks and backslashes as three octal digits. */
function unescapePath(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
