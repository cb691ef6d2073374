// Names a worker's cgroup, so that another worker can prove that it is dead. Defines the limits of a worker's groups.
import { readFileSync, readlinkSync } from 'node:fs'
import { totalmem } from 'node:os'
import { readCode } from '#contract'
import type { LimitsTogether } from './cgroup.ts'

const pattern = /^runledger-(\d+)-(\d+)-(\d+)-(\d+)$/
let executorsMade = 0

/** Limits of a keeper itself (box/keeper/keeper.c), without its boxes. */
export const keeperLimits: LimitsTogether = { memoryBytes: 256 * 1024 * 1024, processes: 64 }

/**
 * Returns the limits of all keepers and boxes of a worker together. A keeper sets the limits of its boxes, so an attacker who
 * controls one could raise them. An eighth of the host stays for the worker and other processes even then.
 */
export function findLimitsTogether(): LimitsTogether {
  const [pids = 0, threads = 0] = ['pid_max', 'threads-max'].map((name) =>
    Number(readFileSync(`/proc/sys/kernel/${name}`, 'utf8')),
  )
  const leave = (all: number): number => all - Math.ceil(all / 8)
  return { memoryBytes: leave(totalmem()), processes: leave(Math.min(pids, threads)) }
}

/** Returns `runledger-<pid namespace>-<pid>-<start time in ticks>-<n-th executor of the process>`, unique on a host. */
export function nameWorkerGroup(): string {
  executorsMade += 1
  return `runledger-${pidNamespace()}-${process.pid}-${startTicks(process.pid)}-${executorsMade}`
}

/** True for a worker's group whose process is gone. False for other pid namespaces, whose processes cannot be seen. */
export function isAbandoned(name: string): boolean {
  const match = pattern.exec(name)
  if (match === null) return false
  const [, namespace, pid, start] = match
  try {
    return namespace === pidNamespace() && start !== startTicks(Number(pid))
  } catch {
    return false // The process may live.
  }
}

function pidNamespace(): string {
  return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
}

/** Returns the start time, which distinguishes processes with the same pid; null without a process. @throws when unknown. */
function startTicks(pid: number): string | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch (error) {
    // ESRCH: the process ended while its file was read.
    const code = readCode(error)
    if (code === 'ENOENT' || code === 'ESRCH') return null
    throw error
  }
  // Field 22. The second field, the name, may hold spaces and brackets.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}
