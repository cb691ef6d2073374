// Cgroups as an operator, or a fault, finds them: by name, wherever in the tree the service made them.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'

// Deeper than systemd nests services, and containers their own trees.
const mostLevels = 8

/** Directories of all cgroups, in all hierarchies, whose name matches; not those below one that does. */
export function findControlGroups(name: RegExp): string[] {
  const found: string[] = []
  const visit = (path: string, level: number): void => {
    for (const entry of listDirectories(path)) {
      const below = `${path}/${entry}`
      if (name.test(entry)) found.push(below)
      else if (level < mostLevels) visit(below, level + 1)
    }
  }
  visit('/sys/fs/cgroup', 0)
  return found
}

/** The parent cgroups of the boxes of the worker with this pid: one in each hierarchy. */
export function findWorkerGroups(pid: number): string[] {
  return findControlGroups(new RegExp(`^runledger-\\d+-${pid}-\\d+-\\d+$`))
}

/** How many cores each of its boxes may use at once, in no order; none where the host does not limit that. */
export function readCores(workerPid: number): number[] {
  const read = (group: string): number[] => {
    const [file] = ['cpu.cfs_quota_us', 'cpu.max']
      .map((name) => `${group}/${name}`)
      .filter(existsSync)
    const [quota = 'max', period] =
      file === undefined ? [] : readFileSync(file, 'utf8').split(/\s+/)
    const own = quota === 'max' || quota === '-1' ? [] : [Number(quota) / readPeriod(group, period)]
    return [...own, ...listDirectories(group).flatMap((name) => read(`${group}/${name}`))]
  }
  return findWorkerGroups(workerPid).flatMap(read)
}

/** @param told in the file of the quota itself, on v2. */
function readPeriod(group: string, told: string | undefined): number {
  return Number(
    told === undefined || told === '' ? readFileSync(`${group}/cpu.cfs_period_us`, 'utf8') : told,
  )
}

/** Makes a worker's host sick: its boxes are killed, and none can be begun. @throws when nothing limits them. */
export function breakSandbox(workerPid: number): void {
  limitProcesses(workerPid, '0')
  for (const group of findWorkerGroups(workerPid)) killAll(group)
}

/** Makes it well again. */
export function mendSandbox(workerPid: number): void {
  limitProcesses(workerPid, 'max')
}

function limitProcesses(workerPid: number, most: '0' | 'max'): void {
  const files = findWorkerGroups(workerPid)
    .map((group) => `${group}/pids.max`)
    .filter(existsSync)
  if (files.length === 0) throw new Error(`worker ${workerPid} has no cgroup that limits processes`)
  for (const file of files) writeFileSync(file, most)
}

function killAll(group: string): void {
  for (const below of listDirectories(group)) killAll(`${group}/${below}`)
  for (const pid of readProcesses(group)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // it has ended by itself
    }
  }
}

function readProcesses(group: string): number[] {
  try {
    return readFileSync(`${group}/cgroup.procs`, 'utf8').split('\n').filter(Boolean).map(Number)
  } catch {
    return [] // removed in this moment
  }
}

function listDirectories(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
  } catch {
    return [] // removed in this moment
  }
}
