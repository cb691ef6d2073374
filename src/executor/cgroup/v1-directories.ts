// The directories that a cgroup v1 group is made of: one in each controller's hierarchy, and one in the empty v2 tree of
// hybrid hosts.
import { existsSync } from 'node:fs'
import { describe, SandboxError } from '#contract'
import type { Hierarchy } from './cgroup.ts'
import { makeGroup, removeGroup } from './file.ts'

/** One group's; `cpu` may be missing, and one of `freezer` and `unified`. */
export interface Directories {
  readonly memory: string
  readonly pids: string
  readonly cpuacct: string
  readonly cpu: string | null
  readonly freezer: string | null
  readonly unified: string | null
}

/** Groups are made in all that are mounted. */
export const versionOneControllers = {
  required: ['memory', 'pids', 'cpuacct'],
  optional: ['cpu', 'freezer'],
} as const

const remedy =
  'run the worker as root, or give it a group of its own in every hierarchy, mounted writable'

/** @throws {SandboxError} naming every group that cannot be made. */
export function makeGroups(directories: Directories): void {
  const refusals = listRefusals(listDistinct(directories))
  if (refusals.length > 0)
    throw new SandboxError(
      'cgroup.create',
      `cannot make groups: ${[...refusals, remedy].join('; ')}`,
    )
}

/** @returns why some could not be made. */
function listRefusals(directories: readonly string[]): string[] {
  const refusals: string[] = []
  for (const directory of directories) {
    try {
      makeGroup(directory)
    } catch (error) {
      refusals.push(describe(error instanceof SandboxError ? error.cause : error))
    }
  }
  return refusals
}

/** @throws {SandboxError} naming all that is missing or forbidden. */
export function findBase(hierarchies: readonly Hierarchy[], name: string): Directories {
  const find = (controller: string): string | null =>
    hierarchies.find((hierarchy) => hierarchy.controllers.includes(controller))?.ownGroup ?? null
  const unified = hierarchies.find((hierarchy) => hierarchy.type === 'cgroup2')?.ownGroup ?? null
  const base = {
    memory: find('memory') ?? '',
    pids: find('pids') ?? '',
    cpuacct: find('cpuacct') ?? '',
    cpu: find('cpu'),
    freezer: find('freezer'),
    unified: unified !== null && canMakeGroups(unified) ? unified : null,
  }
  const missing = versionOneControllers.required.filter((controller) => find(controller) === null)
  const complaints: string[] = []
  if (missing.length > 0) {
    const names = missing.map((controller) => `"${controller}"`).join(', ')
    complaints.push(`cgroup v1 is mounted without: ${names}`)
  }
  if (base.unified === null && base.freezer === null)
    complaints.push(
      'neither a writable cgroup2 tree nor the v1 freezer is mounted; a box could not be killed at once',
    )
  if (complaints.length === 0) return base
  const groups = listDistinct(base)
    .filter((directory) => directory !== '')
    .map((directory) => `${directory}/${name}`)
  const refusals = listRefusals(groups)
  for (const group of groups) void removeGroup(group, 0).catch(() => {})
  if (refusals.length > 0) complaints.push(`cannot make groups: ${refusals.join('; ')}`, remedy)
  throw new SandboxError('cgroup.find', complaints.join('; '))
}

/** A worker without root may lack the v2 tree; an old kernel's has no cgroup.kill. */
function canMakeGroups(directory: string): boolean {
  const probe = `${directory}/runledger-probe-${process.pid}`
  try {
    makeGroup(probe)
  } catch {
    return false
  }
  const killable = existsSync(`${probe}/cgroup.kill`)
  void removeGroup(probe).catch(() => {})
  return killable
}

export function descend(base: Directories, name: string): Directories {
  const below = (directory: string | null): string | null => directory && `${directory}/${name}`
  return {
    memory: `${base.memory}/${name}`,
    pids: `${base.pids}/${name}`,
    cpuacct: `${base.cpuacct}/${name}`,
    cpu: below(base.cpu),
    freezer: below(base.freezer),
    unified: below(base.unified),
  }
}

/** `cpu` and `cpuacct` are often one directory. */
export function listDistinct(directories: Directories): string[] {
  const { memory, pids, cpuacct, cpu, freezer, unified } = directories
  const all = [memory, pids, cpuacct, cpu, freezer, unified]
  return [...new Set(all.filter((directory) => directory !== null))]
}
