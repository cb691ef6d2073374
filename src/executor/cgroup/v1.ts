// cgroup v1: one directory per controller, plus the empty v2 tree of hybrid hosts. Only that tree or the freezer can
// kill all at once.
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, keeperLimits, readCode, SandboxError } from '#contract'
import type { CgroupParent, Hierarchy, KeeperGroup } from './cgroup.ts'
import { cpuPeriodMicroseconds, quotaMicroseconds, rememberCores } from './cpu-quota.ts'
import {
  closeFiles,
  isMissing,
  makeGroup,
  openFiles,
  readChildren,
  readKey,
  readPids,
  readValue,
  removeGroup,
  removeTree,
  writeLimit,
  writeValue,
} from './file.ts'
import { descend, findBase, listDistinct, makeGroups } from './v1-directories.ts'
import type { Directories } from './v1-directories.ts'
import { isAbandoned, memoryBytesMost } from './worker-group.ts'

/** Memory and swap together. */
const swapFile = 'memory.memsw.limit_in_bytes'

/** @throws {SandboxError} naming the missing controller. */
export async function openCgroupV1(
  name: string,
  hierarchies: readonly Hierarchy[],
  share: number,
): Promise<CgroupParent> {
  const base = findBase(hierarchies, name)
  await sweep(base)
  const parent = descend(base, name)
  try {
    makeGroups(parent)
    writeLimit(parent.memory, 'memory.limit_in_bytes', memoryBytesMost())
  } catch (error) {
    for (const directory of listDistinct(parent)) await removeGroup(directory, 0).catch(() => {})
    throw error
  }
  return {
    version: 'v1',
    async createForKeeper(child) {
      const group = descend(parent, child)
      try {
        for (const directory of listDistinct(group)) makeGroup(directory)
        limit(group)
        limitCores(group, share)
        return openKeeperGroup(group, share)
      } catch (error) {
        for (const directory of listDistinct(group)) await removeGroup(directory, 0).catch(() => {})
        throw error
      }
    },
    close: () => removeParent(parent),
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
function openKeeperGroup(group: Directories, share: number): KeeperGroup {
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
  const directories = listDistinct(group)
  let cpuBaseline = 0
  const readCpuNanoseconds = (): number => Number(readValue(group.cpuacct, 'cpuacct.usage'))
  return {
    version: 'v1',
    countsSwap,
    sharesCpu: group.cpu !== null && existsSync(`${group.cpu}/cpu.shares`),
    entrances: directories.map((directory) => `${directory}/cgroup.procs`),
    descriptors,
    closeDescriptors: () => closeFiles(descriptors),
    limitCores: rememberCores(share, (cores) => limitCores(group, cores)),
    startMeasuring() {
      writeValue(group.memory, 'memory.max_usage_in_bytes', '0')
      cpuBaseline = readCpuNanoseconds()
    },
    readCpuSeconds: () => (readCpuNanoseconds() - cpuBaseline) / 1e9,
    readMemoryPeakBytes: () => Number(readValue(group.memory, 'memory.max_usage_in_bytes')),
    readOutOfMemoryKills: () => readKey(group.memory, 'memory.oom_control', 'oom_kill'),
    async remove() {
      await killAll(group)
      for (const directory of directories) await removeGroup(directory)
    },
  }
}

function killEach(directory: string): void {
  for (const pid of readPids(directory)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if (readCode(error) !== 'ESRCH') throw error
    }
  }
}

/** @throws {SandboxError} step `cgroup.kill` when something still lives after five seconds. */
async function killAll(group: Directories): Promise<void> {
  const directories = listDistinct(group)
  const patienceMilliseconds = 5000
  let waited = 0
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    if (directories.every((directory) => readPids(directory).length === 0)) return
    if (waited >= patienceMilliseconds) {
      throw new SandboxError('cgroup.kill', `processes in ${group.pids} outlive SIGKILL`)
    }
    try {
      if (group.unified !== null) writeValue(group.unified, 'cgroup.kill', '1')
      for (const directory of directories) await killFrozen(directory, group.freezer)
    } catch (cause) {
      if (!isMissing(cause)) {
        throw new SandboxError(
          'cgroup.kill',
          `cannot kill ${group.pids}: ${describe(cause)}`,
          cause,
        )
      }
    }
    await delay(pause)
    waited += pause
  }
}

/** Freezes first, as a process that keeps forking could outrun the loop. Frozen processes die once thawed. */
async function killFrozen(directory: string, freezer: string | null): Promise<void> {
  if (readPids(directory).length === 0) return
  if (freezer === null) {
    killEach(directory)
    return
  }
  writeValue(freezer, 'freezer.state', 'FROZEN')
  try {
    for (
      let tries = 0;
      tries < 20 && readValue(freezer, 'freezer.state') !== 'FROZEN';
      tries += 1
    ) {
      await delay(1)
    }
    killEach(directory)
  } finally {
    writeValue(freezer, 'freezer.state', 'THAWED')
  }
}

/** Kills and removes everything below, then the parent. */
async function removeParent(parent: Directories): Promise<void> {
  const directories = listDistinct(parent)
  for (const child of new Set(directories.flatMap(readChildren)))
    await killAll(descend(parent, child))
  for (const directory of directories) await removeTree(directory)
}

/**
 * Removes dead workers' groups, but not another user's. A group is one in all hierarchies: a worker that died while it
 * froze its processes left them where only the freezer can let them die.
 */
async function sweep(base: Directories): Promise<void> {
  const names = new Set(listDistinct(base).flatMap(readChildren).filter(isAbandoned))
  for (const name of names) {
    try {
      await removeParent(descend(base, name))
    } catch (error) {
      const code = readCode(error)
      const isForbidden = code === 'EACCES' || code === 'EPERM'
      // What outlives a kill the next worker tries again.
      if (!isForbidden && !(error instanceof SandboxError) && !isMissing(error)) throw error
    }
  }
}
