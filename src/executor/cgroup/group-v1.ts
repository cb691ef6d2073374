// cgroup v1: a group has one directory per controller.
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { SandboxError } from '#contract'
import type { Hierarchy, LimitsTogether } from './cgroup.ts'
import { cpuPeriodMicroseconds, quotaMicroseconds } from './cpu-quota.ts'
import {
  killEach,
  makeGroup,
  openFiles,
  readChildren,
  readPids,
  readValue,
  removeTree,
  requireSwapOff,
  writeLimit,
  writeValue,
} from './file.ts'
import type { CgroupVersion, KeeperFiles } from './tree.ts'

/** The directories of one group by controller. */
type Directories = Readonly<Record<'memory' | 'pids' | 'cpuacct', string>> & {
  readonly cpu?: string
}

const remedy =
  'run the worker as root, or give it a group of its own in every hierarchy, mounted writable'

const memoryFile = 'memory.limit_in_bytes'
/** Limit of memory and swap together. */
const swapFile = 'memory.memsw.limit_in_bytes'

const socketsFile = 'memory.kmem.tcp.limit_in_bytes'
const socketBytes = 32 * 1024 * 1024

/** @throws {SandboxError} naming the missing controller. */
export function findVersionOne(hierarchies: readonly Hierarchy[]): CgroupVersion<Directories> {
  return {
    version: 'v1',
    base: findBase(hierarchies),
    descend: (group, name) => mapDirectories(group, (directory) => `${directory}/${name}`),
    listChildren: (group) => [...new Set(listDistinct(group).flatMap(readChildren))],
    make(group) {
      for (const directory of listDistinct(group)) makeGroup(directory, remedy)
    },
    limit,
    limitCores,
    openKeeper: openKeeperGroup,
    isEmpty: (group) => listAll(group).every((directory) => readPids(directory).length === 0),
    kill(group) {
      limitCores(group, Infinity)
      // Then no process can fork after the list was read.
      writeValue(group.pids, 'pids.max', '0')
      for (const directory of listAll(group)) killEach(directory)
    },
    async remove(group) {
      for (const directory of listDistinct(group)) await removeTree(directory)
    },
  }
}

/** @throws {SandboxError} naming all that is missing. */
function findBase(hierarchies: readonly Hierarchy[]): Directories {
  const missing: string[] = []
  const find = (controller: string): string | undefined =>
    hierarchies.find((hierarchy) => hierarchy.controllers.includes(controller))?.ownGroup
  const require = (controller: string): string => {
    const found = find(controller)
    if (found === undefined) missing.push(`"${controller}"`)
    return found ?? ''
  }
  const [memory, pids, cpuacct] = [require('memory'), require('pids'), require('cpuacct')]
  if (missing.length > 0)
    throw new SandboxError('cgroup.find', `cgroup v1 is mounted without: ${missing.join(', ')}`)
  const cpu = find('cpu')
  return { memory, pids, cpuacct, ...(cpu !== undefined && { cpu }) }
}

function mapDirectories(group: Directories, change: (directory: string) => string): Directories {
  const changed = Object.entries(group).map(([controller, own]) => [controller, change(own)])
  return Object.fromEntries(changed) as Directories
}

/** `cpu` and `cpuacct` are often one directory. */
function listDistinct(group: Directories): string[] {
  return [...new Set(Object.values(group))]
}

/** Lists a group's directories and those below them. */
function listAll(group: Directories): string[] {
  const withBelow = (directory: string): string[] => [
    directory,
    ...readChildren(directory).map((name) => `${directory}/${name}`),
  ]
  return listDistinct(group).flatMap(withBelow)
}

function limit({ memory, pids }: Directories, { memoryBytes, processes }: LimitsTogether): void {
  const files = [memoryFile]
  if (existsSync(`${memory}/${swapFile}`)) files.push(swapFile)
  else requireSwapOff()
  // The limit of both may never be below that of memory.
  if (Number(readValue(memory, memoryFile)) < memoryBytes) files.reverse()
  for (const file of files) writeLimit(memory, file, memoryBytes)
  writeLimit(pids, 'pids.max', processes)
}

function limitCores({ cpu }: Directories, cores: number): number {
  if (cpu === undefined || !existsSync(`${cpu}/cpu.cfs_quota_us`)) return availableParallelism()
  writeLimit(cpu, 'cpu.cfs_period_us', cpuPeriodMicroseconds)
  writeLimit(cpu, 'cpu.cfs_quota_us', cores === Infinity ? -1 : quotaMicroseconds(cores))
  return cores
}

/**
 * Makes the `keeper` group below the group that limits the keeper, and opens its files with the worker's rights. With them
 * the keeper sets the limits of its boxes (keeper/group-v1.c).
 */
function openKeeperGroup(above: Directories): KeeperFiles {
  const limited = [above.memory, above.pids]
  for (const directory of new Set(limited)) makeGroup(`${directory}/keeper`)
  const own = (directory: string): string =>
    limited.includes(directory) ? `${directory}/keeper` : directory
  const group = mapDirectories(above, own)
  // The kernel counts the memory of TCP and UDP sockets separately, and only for a group that has such a limit of its own.
  if (existsSync(`${group.memory}/${socketsFile}`))
    writeLimit(group.memory, socketsFile, socketBytes)
  const countsSwap = existsSync(`${group.memory}/${swapFile}`)
  const files = [
    [`${group.memory}/${memoryFile}`, 'r+'],
    // When swap is not counted, the files of memory take these positions, too.
    [`${group.memory}/${countsSwap ? swapFile : memoryFile}`, 'r+'],
    [`${group.memory}/memory.max_usage_in_bytes`, 'r+'],
    [`${group.memory}/memory.${countsSwap ? 'memsw.' : ''}max_usage_in_bytes`, 'r+'],
    [`${group.memory}/memory.usage_in_bytes`, 'r'],
    [`${group.memory}/memory.oom_control`, 'r'],
    [`${group.cpuacct}/cpuacct.usage`, 'r'],
    [`${group.pids}/pids.max`, 'r+'],
    [`${group.pids}/pids.current`, 'r'],
  ] as const
  return {
    countsSwap,
    sharesCpu: group.cpu !== undefined && existsSync(`${group.cpu}/cpu.shares`),
    entrances: listDistinct(group).map((directory) => `${directory}/cgroup.procs`),
    descriptors: openFiles(files),
    readCounters: () => ({
      cpuSeconds: Number(readValue(group.cpuacct, 'cpuacct.usage')) / 1e9,
      memoryBytes: Number(readValue(group.memory, 'memory.usage_in_bytes')),
    }),
  }
}
