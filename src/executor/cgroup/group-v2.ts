// cgroup v2: one tree, in which each box has a group. v2-delegation.ts gets the worker's part of the tree.
import { chownSync, existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { SandboxError } from '#contract'
import type { Hierarchy, LimitsTogether } from './cgroup.ts'
import { cpuPeriodMicroseconds, quotaMicroseconds } from './cpu-quota.ts'
import {
  makeGroup,
  openFiles,
  readChildren,
  readKey,
  readValue,
  removeTree,
  requireSwapOff,
  writeLimit,
  writeValue,
} from './file.ts'
import type { CgroupVersion, KeeperFiles } from './tree.ts'
import { delegate, enableControllers, remedy } from './v2-delegation.ts'
import { keeperLimits } from './worker-group.ts'

/** @throws {SandboxError} when the tree is read-only, not delegated or lacks a controller. */
export function findVersionTwo(unified: Hierarchy): CgroupVersion<string> {
  return {
    version: 'v2',
    base: delegate(unified),
    descend: (group, name) => `${group}/${name}`,
    listChildren: readChildren,
    make(group) {
      makeGroup(group, remedy)
      enableControllers(group)
    },
    limit,
    limitCores,
    openKeeper: openKeeperGroup,
    isEmpty: (group) => !existsSync(group) || readKey(group, 'cgroup.events', 'populated') === 0,
    kill(group) {
      limitCores(group, Infinity)
      writeValue(group, 'cgroup.kill', '1')
    },
    remove: removeTree,
  }
}

function limit(group: string, { memoryBytes, processes }: LimitsTogether): void {
  writeLimit(group, 'memory.max', memoryBytes)
  if (existsSync(`${group}/memory.swap.max`)) writeLimit(group, 'memory.swap.max', 0)
  else requireSwapOff()
  writeLimit(group, 'pids.max', processes)
}

function limitCores(group: string, cores: number): number {
  if (!existsSync(`${group}/cpu.max`)) return availableParallelism()
  const quota = `${cores === Infinity ? 'max' : quotaMicroseconds(cores)} ${cpuPeriodMicroseconds}`
  writeValue(group, 'cpu.max', quota)
  const found = readValue(group, 'cpu.max')
  if (found !== quota)
    throw new SandboxError('cgroup.limit', `${group}/cpu.max holds ${found}, not ${quota}`)
  return cores
}

/** Makes the keeper's leaf group, and gives the keeper the subtree, in which it makes a group for each box. */
function openKeeperGroup(group: string, uid: number | null): KeeperFiles {
  const leaf = `${group}/keeper`
  makeGroup(leaf)
  limit(leaf, keeperLimits)
  if (uid !== null) {
    for (const path of [group, `${group}/cgroup.procs`, `${leaf}/cgroup.procs`])
      chownSync(path, uid, uid)
  }
  return {
    countsSwap: existsSync(`${leaf}/memory.swap.max`),
    sharesCpu: existsSync(`${leaf}/cpu.weight`),
    entrances: [`${leaf}/cgroup.procs`],
    descriptors: openFiles([
      [group, 'r'],
      [`${group}/memory.high`, 'r+'],
    ]),
    readCounters: () => ({
      cpuSeconds: readKey(group, 'cpu.stat', 'usage_usec') / 1e6,
      memoryBytes: Number(readValue(group, 'memory.current')),
    }),
  }
}
