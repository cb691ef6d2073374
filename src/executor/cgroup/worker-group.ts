// Names a worker's cgroup so that a sweep can prove the worker dead first.
import { readFileSync, readlinkSync } from 'node:fs'
import { totalmem } from 'node:os'
import { readCode } from '#contract'
import type { LimitsTogether } from './cgroup.ts'

const pattern = /^runledger-(\d+)-(\d+)-(\d+)-(\d+)$/
let executorsMade = 0

/** What a keeper (box/keeper/keeper.c) may take itself, beside its boxes. */
export const keeperLimits: LimitsTogether = { memoryBytes: 256 * 1024 * 1024, processes: 64 }

/**
 * What all boxes of a worker and their keepers may have together. A keeper sets its boxes' limits: whoever took one over would
 * leave an eighth of the host to the worker and to whatever else is there.
 */
export function findLimitsTogether(): LimitsTogether {
  const [pids = 0, threads = 0] = ['pid_max', 'threads-max'].map((name) =>
    Number(readFileSync(`/proc/sys/kernel/${name}`, 'utf8')),
  )
  const leave = (all: number): number => all - Math.ceil(all / 8)
  return { memoryBytes: leave(totalmem()), processes: leave(Math.min(pids, threads)) }
}

/** `runledger-<pid namespace>-<pid>-<start time in ticks>-<n-th executor of the process>`: unique on a host. */
export function nameWorkerGroup(): string {
  executorsMade += 1
  return `runledger-${pidNamespace()}-${process.pid}-${startTicks(process.pid)}-${executorsMade}`
}

/** The name is ours and its process is gone. False for other pid namespaces, whose processes cannot be seen. */
export function isAbandoned(name: string): boolean {
  const match = pattern.exec(name)
  if (match === null) return false
  const [, namespace, pid, start] = match
  try {
    return namespace === pidNamespace() && start !== startTicks(Number(pid))
  } catch {
    return false // nobody knows
  }
}

function pidNamespace(): string {
  return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
}

/** Distinguishes processes with the same pid; null without a process. Throws where that cannot be known. */
function startTicks(pid: number): string | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch (error) {
    // ESRCH: it went while it was read.
    const code = readCode(error)
    if (code === 'ENOENT' || code === 'ESRCH') return null
    throw error
  }
  // Field 22; the second, the name, may hold spaces and brackets.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}
