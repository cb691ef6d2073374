// What other processes hold in memory, from /proc.
import { readFileSync } from 'node:fs'

/** Resident memory together, with a tenth of a megabyte; 0 of a process that has ended. */
export function readMegabytes(...pids: readonly number[]): number {
  const kibibytes = pids.reduce((sum, pid) => sum + (readStatus(pid)?.('VmRSS') ?? 0), 0)
  return Math.round((kibibytes * 1024) / 1e5) / 10
}

/** Numbers of /proc/PID/status by their names; null of a process that has ended. */
export function readStatus(pid: number): ((name: string) => number) | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  } catch {
    return null
  }
}
