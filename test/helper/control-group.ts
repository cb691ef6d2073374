// Cgroups as an operator, or a fault, finds them: by name, wherever in the tree the service made them.
import { existsSync, readdirSync, writeFileSync } from 'node:fs'

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

/**
 * Sets how many processes a worker's boxes may have together: with `0` its host is sick, and no box can be begun.
 * @throws when nothing limits them.
 */
export function limitProcesses(workerPid: number, most: '0' | 'max'): void {
  const files = findWorkerGroups(workerPid)
    .map((group) => `${group}/pids.max`)
    .filter(existsSync)
  if (files.length === 0) throw new Error(`worker ${workerPid} has no cgroup that limits processes`)
  for (const file of files) writeFileSync(file, most)
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
