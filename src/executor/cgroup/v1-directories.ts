// The directories that a cgroup v1 group is made of: one in each controller's hierarchy.
import { SandboxError } from '#contract'
import type { Hierarchy } from './cgroup.ts'
import { makeGroup } from './file.ts'

/** One group's; `cpu` may be missing. */
export interface Directories {
  readonly memory: string
  readonly pids: string
  readonly cpuacct: string
  readonly cpu: string | null
}

const remedy =
  'run the worker as root, or give it a group of its own in every hierarchy, mounted writable'

/** @throws {SandboxError} step `cgroup.create`. */
export function makeGroups(directories: Directories): void {
  for (const directory of listDistinct(directories)) makeGroup(directory, remedy)
}

/** @throws {SandboxError} naming all that is missing. */
export function findBase(hierarchies: readonly Hierarchy[]): Directories {
  const missing: string[] = []
  const find = (controller: string): string | null =>
    hierarchies.find((hierarchy) => hierarchy.controllers.includes(controller))?.ownGroup ?? null
  const require = (controller: string): string => {
    const found = find(controller)
    if (found === null) missing.push(`"${controller}"`)
    return found ?? ''
  }
  const [memory, pids, cpuacct] = [require('memory'), require('pids'), require('cpuacct')]
  if (missing.length > 0)
    throw new SandboxError('cgroup.find', `cgroup v1 is mounted without: ${missing.join(', ')}`)
  return { memory, pids, cpuacct, cpu: find('cpu') }
}

export function mapDirectories(
  { memory, pids, cpuacct, cpu }: Directories,
  change: (directory: string) => string,
): Directories {
  return {
    memory: change(memory),
    pids: change(pids),
    cpuacct: change(cpuacct),
    cpu: cpu === null ? null : change(cpu),
  }
}

/** `cpu` and `cpuacct` are often one directory. */
export function listDistinct({ memory, pids, cpuacct, cpu }: Directories): string[] {
  return [...new Set([memory, pids, cpuacct, ...(cpu === null ? [] : [cpu])])]
}
