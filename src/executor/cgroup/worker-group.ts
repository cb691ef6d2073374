// The name of a worker's own parent cgroup, and whether the worker behind such a name still lives.
// Separate because the sweep must be able to prove a worker dead before it touches anything of its.
import { readFileSync, readlinkSync } from 'node:fs'

const pattern = /^runledger-(\d+)-(\d+)-(\d+)-(\d+)$/
let executorsMade = 0

/** `runledger-<pid namespace>-<pid>-<start time in ticks>-<n-th executor of the process>`: unique on a host. */
export function nameWorkerGroup(): string {
  executorsMade += 1
  return `runledger-${pidNamespace()}-${process.pid}-${startTicks(process.pid)}-${executorsMade}`
}

/**
 * True when the name is one of ours and its process is gone. A name made in another pid namespace is never called
 * abandoned: its process cannot be seen from here.
 */
export function isAbandoned(name: string): boolean {
  const match = pattern.exec(name)
  if (match === null) return false
  const [, namespace, pid, start] = match
  return namespace === pidNamespace() && start !== startTicks(Number(pid))
}

function pidNamespace(): string {
  return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
}

/** The start tells a process from a later one with the same pid; null when there is no such process. */
function startTicks(pid: number): string | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null
  }
  // Field 22; the second field, the name, may itself hold spaces and brackets.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}
