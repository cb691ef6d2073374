// Finds the service's cgroups by name, wherever in the tree they are, as an operator would; and breaks a worker's sandbox.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'

// Deeper than systemd nests services and containers nest their trees.
const mostLevels = 8

/** Finds the cgroups of all hierarchies whose name matches, but none below a matching one. @returns their directories. */
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

/** Finds the parent cgroup of a worker's boxes in each hierarchy. */
export function findWorkerGroups(pid: number): string[] {
  return findControlGroups(new RegExp(`^runledger-\\d+-${pid}-\\d+-\\d+$`))
}

/** Reads how many cores each of a worker's boxes may use at once, in no order; empty if the host does not limit that. */
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

/** @param told the period in the quota's own file, which only v2 has. */
function readPeriod(group: string, told: string | undefined): number {
  return Number(
    told === undefined || told === '' ? readFileSync(`${group}/cpu.cfs_period_us`, 'utf8') : told,
  )
}

/** Breaks a worker's sandbox: kills its boxes and prevents new ones. @throws when no cgroup limits its processes. */
export function breakSandbox(workerPid: number): void {
  limitProcesses(workerPid, '0')
  for (const group of findWorkerGroups(workerPid)) killAll(group)
}

/** Undoes breakSandbox. */
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
      // the process has ended by itself
    }
  }
}

function readProcesses(group: string): number[] {
  try {
    return readFileSync(`${group}/cgroup.procs`, 'utf8').split('\n').filter(Boolean).map(Number)
  } catch {
    return [] // the cgroup was removed meanwhile
  }
}

function listDirectories(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
  } catch {
    return [] // the cgroup was removed meanwhile
  }
}
