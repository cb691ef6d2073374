// Gets a cgroup v2 tree for the worker. A group that has processes may not give controllers to its children, so the worker
// first moves into a leaf group. This works for root on a host, in a systemd service and in a container.
import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { describe, readCode, SandboxError } from '#contract'
import type { Hierarchy } from './cgroup.ts'
import { makeGroup, readPids, readValue, writeValue } from './file.ts'

/** The worker makes the first leaf; systemd makes the second with `DelegateSubgroup=supervisor`. */
const leafNames = ['runledger-supervisor', 'supervisor']

/** Explains to an operator how to give the worker a tree. */
export const remedy =
  'under systemd set Delegate=yes on the service; in a container give it a writable cgroup namespace; otherwise run as root'

/** Moves the processes of the base group into a leaf, enables the controllers, and returns the base group. */
export function delegate({ ownGroup, mountPoint }: Hierarchy): string {
  const isInLeaf = ownGroup !== mountPoint && leafNames.includes(basename(ownGroup))
  const base = isInLeaf ? dirname(ownGroup) : ownGroup
  try {
    // Only the root of the tree has no cgroup.type. Only there may a group with children hold processes.
    const enabled = readEnabled(base)
    const isReady = enabled.includes('memory') && enabled.includes('pids')
    if (existsSync(`${base}/cgroup.type`) && !isReady) moveToLeaf(base)
    enableControllers(base)
  } catch (cause) {
    if (cause instanceof SandboxError) throw cause
    throw refuse(`${base}: ${describe(cause)}`, cause)
  }
  return base
}

function readEnabled(group: string): string[] {
  return readValue(group, 'cgroup.subtree_control').split(' ')
}

function moveToLeaf(base: string): void {
  const leaf = `${base}/${leafNames[0]}`
  if (!existsSync(leaf)) makeGroup(leaf, remedy)
  // Processes may fork meanwhile. Further rounds move those children.
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

/** Enables memory, pids and cpu for child groups. cpu may be missing, because CPU time is counted without it. */
export function enableControllers(group: string): void {
  const available = readValue(group, 'cgroup.controllers').split(' ')
  for (const controller of ['memory', 'pids']) {
    if (available.includes(controller)) continue
    throw refuse(`${group} has no "${controller}" controller`)
  }
  const wanted = ['memory', 'pids', 'cpu'].filter((controller) => available.includes(controller))
  const enabled = readEnabled(group)
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
