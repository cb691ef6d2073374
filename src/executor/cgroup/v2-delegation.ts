// How a worker comes to a cgroup v2 tree of its own. A group with processes may not give controllers to children, so the
// worker moves into a leaf first. How depends on where it stands: a host's root, a service or a container.
import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { describe, readCode, SandboxError } from '#contract'
import type { Hierarchy } from './cgroup.ts'
import { makeGroup, readPids, readValue, writeValue } from './file.ts'

/** systemd makes the second by `DelegateSubgroup=supervisor`. */
const leafNames = ['runledger-supervisor', 'supervisor']

/** How a worker gets a tree of its own. */
export const remedy =
  'under systemd set Delegate=yes on the service; in a container give it a writable cgroup namespace; otherwise run as root'

/** The worker's own group, or the one above a leaf made for it. */
function findDelegatedGroup({ ownGroup, mountPoint }: Hierarchy): string {
  const inLeaf = ownGroup !== mountPoint && leafNames.includes(basename(ownGroup))
  return inLeaf ? dirname(ownGroup) : ownGroup
}

/** Moves processes out of the base group and enables its controllers; returns the base. */
export function delegate(unified: Hierarchy): string {
  const base = findDelegatedGroup(unified)
  try {
    // Only the tree's root lacks cgroup.type and may hold processes beside children.
    if (existsSync(`${base}/cgroup.type`) && !hasControllers(base)) moveToLeaf(base)
    enableControllers(base)
  } catch (cause) {
    if (cause instanceof SandboxError) throw cause
    throw refuse(`${base}: ${describe(cause)}`, cause)
  }
  return base
}

function hasControllers(group: string): boolean {
  const enabled = readValue(group, 'cgroup.subtree_control').split(' ')
  return enabled.includes('memory') && enabled.includes('pids')
}

function moveToLeaf(base: string): void {
  const leaf = `${base}/${leafNames[0]}`
  if (!existsSync(leaf)) makeGroup(leaf, remedy)
  // Processes may fork meanwhile; more rounds catch the children.
  for (let round = 0; round < 10; round += 1) {
    const pids = readPids(base)
    if (pids.length === 0) return
    for (const pid of pids) {
      try {
        writeValue(leaf, 'cgroup.procs', String(pid))
      } catch (error) {
        if (readCode(error) !== 'ESRCH') throw error
      }
    }
  }
}

/** memory and pids are required. cpu may be missing: CPU time is counted without it. */
export function enableControllers(group: string): void {
  const available = readValue(group, 'cgroup.controllers').split(' ')
  for (const controller of ['memory', 'pids']) {
    if (available.includes(controller)) continue
    throw refuse(`${group} has no "${controller}" controller`)
  }
  const wanted = ['memory', 'pids', 'cpu'].filter((controller) => available.includes(controller))
  const enabled = readValue(group, 'cgroup.subtree_control').split(' ')
  const missing = wanted.filter((controller) => !enabled.includes(controller))
  if (missing.length === 0) return
  try {
    writeValue(
      group,
      'cgroup.subtree_control',
      missing.map((controller) => `+${controller}`).join(' '),
    )
  } catch (cause) {
    throw refuse(`cannot enable ${missing.join(', ')} in ${group}: ${describe(cause)}`, cause)
  }
}

function refuse(words: string, cause?: unknown): SandboxError {
  return new SandboxError('cgroup.delegate', `${words}; ${remedy}`, cause)
}
