// Reads the memory of other processes from /proc.
import { readFileSync } from 'node:fs'

/** Returns the sum of the processes' resident memory, to a tenth of a megabyte; a process that has ended counts as 0. */
export function readMegabytes(...pids: readonly number[]): number {
  const kibibytes = pids.reduce((sum, pid) => sum + (readStatus(pid)?.('VmRSS') ?? 0), 0)
  return Math.round((kibibytes * 1024) / 1e5) / 10
}

/** Returns a function that reads numbers of /proc/PID/status by name; null for a process that has ended. */
export function readStatus(pid: number): ((name: string) => number) | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  } catch {
    return null
  }
}
