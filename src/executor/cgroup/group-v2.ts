// cgroup v2: one tree, in which each box is a group (v2-delegation.ts says how the worker comes to it).
import { chownSync, existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { keeperLimits, SandboxError } from '#contract'
import type { Hierarchy } from './cgroup.ts'
import { cpuPeriodMicroseconds, quotaMicroseconds, rememberCores } from './cpu-quota.ts'
import {
  closeFiles,
  makeGroup,
  openFiles,
  readChildren,
  readKey,
  readValue,
  removeTree,
  writeLimit,
  writeValue,
} from './file.ts'
import type { CgroupVersion, OwnGroup } from './tree.ts'
import { delegate, enableControllers, remedy } from './v2-delegation.ts'
import { findLimitsTogether } from './worker-group.ts'

/** @throws {SandboxError} when the tree is read-only, not delegated or lacks a controller. */
export function findVersionTwo(unified: Hierarchy, share: number): CgroupVersion<string> {
  return {
    version: 'v2',
    base: delegate(unified),
    descend: (group, name) => `${group}/${name}`,
    listChildren: readChildren,
    makeParent(group) {
      makeGroup(group, remedy)
      enableControllers(group)
      const { memoryBytes, processes } = findLimitsTogether()
      writeLimit(group, 'memory.max', memoryBytes)
      writeLimit(group, 'pids.max', processes)
    },
    makeKeeperGroup: (group, uid) => makeKeeperGroup(group, uid, share),
    isEmpty: (group) => !existsSync(group) || readKey(group, 'cgroup.events', 'populated') === 0,
    kill: (group) => writeValue(group, 'cgroup.kill', '1'),
    remove: removeTree,
  }
}

/** @returns what holds: all cores where there is no such limit. */
function limitCores(group: string, cores: number): number {
  if (!existsSync(`${group}/cpu.max`)) return availableParallelism()
  const quota = `${quotaMicroseconds(cores)} ${cpuPeriodMicroseconds}`
  writeValue(group, 'cpu.max', quota)
  const found = readValue(group, 'cpu.max')
  if (found !== quota) throw new SandboxError('cgroup.limit', `${group}/cpu.max holds ${found}`)
  return cores
}

/** A subtree of the keeper's: one leaf for itself, a fresh one per box. The worker sets limits above it. */
function makeKeeperGroup(group: string, uid: number | null, share: number): OwnGroup {
  const leaf = `${group}/keeper`
  makeGroup(group)
  enableControllers(group)
  limitCores(group, share)
  makeGroup(leaf)
  requireSwapOff(leaf)
  writeLimit(leaf, 'memory.max', keeperLimits.memoryBytes)
  writeLimit(leaf, 'pids.max', keeperLimits.processes)
  if (uid !== null) {
    for (const path of [group, `${group}/cgroup.procs`, `${leaf}/cgroup.procs`])
      chownSync(path, uid, uid)
  }
  const descriptors = openFiles([[group, 'r']])
  return {
    countsSwap: existsSync(`${leaf}/memory.swap.max`),
    sharesCpu: existsSync(`${leaf}/cpu.weight`),
    entrances: [`${leaf}/cgroup.procs`],
    descriptors,
    closeDescriptors: () => closeFiles(descriptors),
    limitCores: rememberCores(share, (cores) => limitCores(group, cores)),
    readCounters: () => ({
      cpuSeconds: readKey(group, 'cpu.stat', 'usage_usec') / 1e6,
      memoryBytes: Number(readValue(group, 'memory.current')),
      outOfMemoryKills: readKey(group, 'memory.events', 'oom_kill'),
    }),
  }
}

/** Swap that no group counts would be memory beyond every limit. */
function requireSwapOff(leaf: string): void {
  if (existsSync(`${leaf}/memory.swap.max`)) return
  if (readFileSync('/proc/swaps', 'utf8').trim().includes('\n'))
    throw new SandboxError('cgroup.limit', 'swap is on and not accounted; run swapoff')
}
