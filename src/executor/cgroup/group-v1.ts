// cgroup v1: one directory per controller.
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { keeperLimits, SandboxError } from '#contract'
import type { Hierarchy } from './cgroup.ts'
import { cpuPeriodMicroseconds, quotaMicroseconds, rememberCores } from './cpu-quota.ts'
import {
  closeFiles,
  killEach,
  makeGroup,
  openFiles,
  readChildren,
  readKey,
  readPids,
  readValue,
  removeTree,
  writeLimit,
  writeValue,
} from './file.ts'
import type { CgroupVersion, OwnGroup } from './tree.ts'
import { descend, findBase, listDistinct, makeGroups } from './v1-directories.ts'
import type { Directories } from './v1-directories.ts'
import { findLimitsTogether } from './worker-group.ts'

/** Memory and swap together. */
const swapFile = 'memory.memsw.limit_in_bytes'

const socketsFile = 'memory.kmem.tcp.limit_in_bytes'
const socketBytes = 32 * 1024 * 1024

/** @throws {SandboxError} naming the missing controller. */
export function findVersionOne(
  hierarchies: readonly Hierarchy[],
  share: number,
): CgroupVersion<Directories> {
  return {
    version: 'v1',
    base: findBase(hierarchies),
    descend,
    listChildren: (group) => [...new Set(listDistinct(group).flatMap(readChildren))],
    makeParent(group) {
      makeGroups(group)
      const { memoryBytes, processes } = findLimitsTogether()
      writeLimit(group.memory, 'memory.limit_in_bytes', memoryBytes)
      writeLimit(group.pids, 'pids.max', processes)
    },
    makeKeeperGroup(group) {
      for (const directory of listDistinct(group)) makeGroup(directory)
      limit(group)
      limitCores(group, share)
      return openKeeperGroup(group, share)
    },
    isEmpty: (group) => listDistinct(group).every((directory) => readPids(directory).length === 0),
    kill(group) {
      // No fork then outruns the list.
      writeValue(group.pids, 'pids.max', '0')
      for (const directory of listDistinct(group)) killEach(directory)
    },
    async remove(group) {
      for (const directory of listDistinct(group)) await removeTree(directory)
    },
  }
}

function limit(group: Directories): void {
  const { memoryBytes, processes } = keeperLimits
  writeLimit(group.memory, 'memory.limit_in_bytes', memoryBytes)
  if (existsSync(`${group.memory}/${swapFile}`)) {
    // Written second, as it may never be below the limit of memory.
    writeLimit(group.memory, swapFile, memoryBytes)
  } else if (readFileSync('/proc/swaps', 'utf8').trim().includes('\n')) {
    throw new SandboxError(
      'cgroup.limit',
      'swap is on and not accounted; run swapoff or boot with swapaccount=1',
    )
  }
  // What TCP and UDP hold is counted apart, and only where it has a limit.
  if (existsSync(`${group.memory}/${socketsFile}`))
    writeLimit(group.memory, socketsFile, socketBytes)
  writeLimit(group.pids, 'pids.max', processes)
}

/** @returns what holds: all cores where there is no such limit. */
function limitCores({ cpu }: Directories, cores: number): number {
  if (cpu === null || !existsSync(`${cpu}/cpu.cfs_quota_us`)) return availableParallelism()
  writeLimit(cpu, 'cpu.cfs_period_us', cpuPeriodMicroseconds)
  writeLimit(cpu, 'cpu.cfs_quota_us', quotaMicroseconds(cores))
  return cores
}

/** keeper/group-v1.c's files, opened with the worker's rights. */
function openKeeperGroup(group: Directories, share: number): OwnGroup {
  const countsSwap = existsSync(`${group.memory}/${swapFile}`)
  const files = [
    [`${group.memory}/memory.limit_in_bytes`, 'r+'],
    // Where swap is not counted, the first file stands in and is not written.
    [`${group.memory}/${countsSwap ? swapFile : 'memory.limit_in_bytes'}`, 'r+'],
    [`${group.memory}/memory.max_usage_in_bytes`, 'r+'],
    [`${group.memory}/memory.usage_in_bytes`, 'r'],
    [`${group.memory}/memory.oom_control`, 'r'],
    [`${group.cpuacct}/cpuacct.usage`, 'r'],
    [`${group.pids}/pids.max`, 'r+'],
    [`${group.pids}/pids.current`, 'r'],
  ] as const
  const descriptors = openFiles(files)
  return {
    countsSwap,
    sharesCpu: group.cpu !== null && existsSync(`${group.cpu}/cpu.shares`),
    entrances: listDistinct(group).map((directory) => `${directory}/cgroup.procs`),
    descriptors,
    closeDescriptors: () => closeFiles(descriptors),
    limitCores: rememberCores(share, (cores) => limitCores(group, cores)),
    readCounters: () => ({
      cpuSeconds: Number(readValue(group.cpuacct, 'cpuacct.usage')) / 1e9,
      memoryBytes: Number(readValue(group.memory, 'memory.usage_in_bytes')),
      outOfMemoryKills: readKey(group.memory, 'memory.oom_control', 'oom_kill'),
    }),
  }
}
