// CPU time of other processes, from /proc.
import { readFileSync, readdirSync } from 'node:fs'

// USER_HZ, which Linux fixes at 100 for what it tells programs.
const millisecondsPerTick = 10

interface ProcessTimes {
  readonly parent: number
  readonly own: number
  /** Of children that have ended and were waited for. */
  readonly ended: number
}

/** Milliseconds of user and system time that a process and its living and dead children have used so far. */
export function readTreeMilliseconds(root: number): number {
  const own = readTimes(root)
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readTimes(Number(name)))
    .filter((times) => times?.parent === root)
  const ticks = [own, ...children].reduce((sum, times) => sum + (times?.own ?? 0), own?.ended ?? 0)
  return ticks * millisecondsPerTick
}

/** Null when the process has ended. */
function readTimes(pid: number): ProcessTimes | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before it may hold anything, even spaces and brackets.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15)
    return { parent: fields[1] ?? 0, own: utime + stime, ended: cutime + cstime }
  } catch {
    return null
  }
}

/** Milliseconds of user and system time of this process alone. */
export function readOwnMilliseconds(pid: number): number {
  return (readTimes(pid)?.own ?? 0) * millisecondsPerTick
}

/** The pid of the process's parent. */
export function readParent(pid: number): number {
  return readTimes(pid)?.parent ?? 0
}
