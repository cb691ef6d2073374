// cgroup v2: one tree, in which each box is a group (v2-delegation.ts says how the worker comes to it).
import {
  chownSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs'
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
import { delegate, enableControllers, remedy } from './v2-delegation.ts'
import { isAbandoned, memoryBytesMost } from './worker-group.ts'

/** @throws {SandboxError} when the tree is read-only, not delegated or lacks a controller. */
export async function openCgroupV2(
  name: string,
  unified: Hierarchy,
  share: number,
): Promise<CgroupParent> {
  const base = delegate(unified)
  await sweep(base)
  const parent = `${base}/${name}`
  makeGroup(parent, remedy)
  try {
    enableControllers(parent)
    writeLimit(parent, 'memory.max', memoryBytesMost())
  } catch (error) {
    await removeGroup(parent, 0).catch(() => {})
    throw error
  }
  return {
    version: 'v2',
    createForKeeper: (child, uid) => makeKeeperGroup(`${parent}/${child}`, uid, share),
    async close() {
      for (const child of readChildren(parent)) await killAll(`${parent}/${child}`)
      await removeTree(parent)
    },
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
async function makeKeeperGroup(
  group: string,
  uid: number | null,
  share: number,
): Promise<KeeperGroup> {
  const leaf = `${group}/keeper`
  makeGroup(group)
  let descriptors: number[]
  try {
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
    descriptors = openFiles([[group, 'r']])
  } catch (error) {
    await removeTree(group).catch(() => {})
    throw error
  }
  const { close, ...figures } = measure(group)
  return {
    version: 'v2',
    ...figures,
    countsSwap: existsSync(`${leaf}/memory.swap.max`),
    sharesCpu: existsSync(`${leaf}/cpu.weight`),
    entrances: [`${leaf}/cgroup.procs`],
    descriptors,
    closeDescriptors: () => closeFiles(descriptors),
    limitCores: rememberCores(share, (cores) => limitCores(group, cores)),
    async remove() {
      close()
      await killAll(group)
      await removeTree(group)
    },
  }
}

/** Swap that no group counts would be memory beyond every limit. */
function requireSwapOff(leaf: string): void {
  if (existsSync(`${leaf}/memory.swap.max`)) return
  if (readFileSync('/proc/swaps', 'utf8').trim().includes('\n'))
    throw new SandboxError('cgroup.limit', 'swap is on and not accounted; run swapoff')
}

type Figures = Pick<
  KeeperGroup,
  'startMeasuring' | 'readCpuSeconds' | 'readMemoryPeakBytes' | 'readOutOfMemoryKills'
>

function measure(group: string): Figures & { close(): void } {
  let cpuBaseline = 0
  const peak = openPeak(group)
  const readCpuMicroseconds = (): number => readKey(group, 'cpu.stat', 'usage_usec')
  return {
    startMeasuring() {
      peak.reset()
      cpuBaseline = readCpuMicroseconds()
    },
    readCpuSeconds() {
      peak.sample()
      return (readCpuMicroseconds() - cpuBaseline) / 1e6
    },
    readMemoryPeakBytes: () => peak.read(),
    readOutOfMemoryKills: () => readKey(group, 'memory.events', 'oom_kill'),
    close: () => peak.close(),
  }
}

/**
 * memory.peak exists since Linux 5.19; since 6.12 a descriptor can reset it for itself. Before, it includes the set-up;
 * without it the charge is sampled when CPU time is read.
 */
function openPeak(group: string): {
  reset(): void
  sample(): void
  read(): number
  close(): void
} {
  let descriptor: number | null = null
  let sampled = 0
  const file = `${group}/memory.peak`
  const exists = existsSync(file)
  const close = (): void => {
    if (descriptor !== null) closeSync(descriptor)
    descriptor = null
  }
  return {
    reset() {
      sampled = 0
      if (!exists) return
      try {
        descriptor ??= openSync(file, 'r+')
        writeSync(descriptor, 'reset')
      } catch {
        close()
      }
    },
    sample() {
      if (!exists) sampled = Math.max(sampled, Number(readValue(group, 'memory.current')))
    },
    read() {
      if (!exists) return sampled
      if (descriptor === null) return Number(readValue(group, 'memory.peak'))
      const buffer = Buffer.alloc(32)
      const length = readSync(descriptor, buffer, 0, buffer.length, 0)
      return Number(buffer.toString('latin1', 0, length))
    },
    close,
  }
}

function killTree(group: string): void {
  if (existsSync(`${group}/cgroup.kill`)) {
    writeValue(group, 'cgroup.kill', '1')
    return
  }
  // Before Linux 5.14 this stops forks, so that the caller's loop catches all.
  writeValue(group, 'pids.max', '0')
  for (const pid of readPids(group)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if (readCode(error) !== 'ESRCH') throw error
    }
  }
}

/** @throws {SandboxError} step `cgroup.kill` when something still lives after five seconds. */
async function killAll(group: string): Promise<void> {
  const patienceMilliseconds = 5000
  let waited = 0
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    try {
      if (readKey(group, 'cgroup.events', 'populated') === 0) return
      killTree(group)
    } catch (cause) {
      if (isMissing(cause)) return
      throw new SandboxError('cgroup.kill', `cannot kill ${group}: ${describe(cause)}`, cause)
    }
    if (waited >= patienceMilliseconds) {
      throw new SandboxError('cgroup.kill', `processes in ${group} outlive SIGKILL`)
    }
    await delay(pause)
    waited += pause
  }
}

/** Removes dead workers' groups, but not another user's. */
async function sweep(base: string): Promise<void> {
  for (const name of readChildren(base).filter(isAbandoned)) {
    try {
      for (const child of readChildren(`${base}/${name}`)) await killAll(`${base}/${name}/${child}`)
      await removeTree(`${base}/${name}`)
    } catch (error) {
      const code = readCode(error)
      const forbidden = code === 'EACCES' || code === 'EPERM' || error instanceof SandboxError
      if (!forbidden && !isMissing(error)) throw error
    }
  }
}
