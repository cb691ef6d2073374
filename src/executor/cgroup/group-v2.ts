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
import type { CgroupVersion, KeeperFigures } from './tree.ts'
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
function makeKeeperGroup(group: string, uid: number | null, share: number): KeeperFigures {
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
    ...measure(group),
    countsSwap: existsSync(`${leaf}/memory.swap.max`),
    sharesCpu: existsSync(`${leaf}/cpu.weight`),
    entrances: [`${leaf}/cgroup.procs`],
    descriptors,
    closeDescriptors: () => closeFiles(descriptors),
    limitCores: rememberCores(share, (cores) => limitCores(group, cores)),
  }
}

/** Swap that no group counts would be memory beyond every limit. */
function requireSwapOff(leaf: string): void {
  if (existsSync(`${leaf}/memory.swap.max`)) return
  if (readFileSync('/proc/swaps', 'utf8').trim().includes('\n'))
    throw new SandboxError('cgroup.limit', 'swap is on and not accounted; run swapoff')
}

type Figures = Pick<
  KeeperFigures,
  'startMeasuring' | 'readCpuSeconds' | 'readMemoryPeakBytes' | 'readOutOfMemoryKills' | 'close'
>

function measure(group: string): Figures {
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
