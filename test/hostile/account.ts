// Measures what the host pays beyond what runs report: the kernel's own memory, which programs fill through sockets, pipes
// and the like, and the CPU time of kernel threads. Other work on the machine adds to both figures, so the bounds are wide.
// The memory of user processes is left out.
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { timeFactor } from '../helper/executor.ts'

const mebibyte = 1024 * 1024
/** The memory that the kernel may hold beyond what the runs report, during the runs and after them. */
const memorySlackBytes = 320 * mebibyte
/** The CPU time that kernel threads may use for a group of attacks, including the setup and removal of their boxes. */
const cpuSlackSeconds = 1
const cpuShare = 0.25
const sampleMilliseconds = 50
const settleMilliseconds = 5000

/** Returns the kernel memory that cannot be reclaimed at once: neither memory of user processes nor page cache. */
function readKernelBytes(): number {
  const text = readFileSync('/proc/meminfo', 'utf8')
  const read = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'mu').exec(text)?.[1] ?? 0) * 1024
  const others = ['MemFree', 'Buffers', 'Cached', 'SwapCached', 'AnonPages', 'SReclaimable']
  return others.reduce((rest, name) => rest - read(name), read('MemTotal'))
}

/** Returns the CPU time of all kernel threads in seconds: the children of process 2, where that process is visible. */
function readThreadSeconds(): number {
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/u.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (fields[1] === '2') ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // The process has ended meanwhile.
    }
  }
  return ticks / 100
}

export interface Account {
  /**
   * Returns the faults after the kernel has settled.
   * @param toldBytes the memory that all runs together report.
   */
  settle(toldBytes: number): Promise<string[]>
}

/** Opens the account. It samples the memory until `settle` is called. */
export function openAccount(): Account {
  const before = { memory: readKernelBytes(), cpu: readThreadSeconds(), time: performance.now() }
  let highest = before.memory
  const timer = setInterval(() => {
    highest = Math.max(highest, readKernelBytes())
  }, sampleMilliseconds)
  return {
    async settle(toldBytes) {
      clearInterval(timer)
      const faults: string[] = []
      const held = highest - before.memory
      if (held > toldBytes + memorySlackBytes)
        faults.push(`the kernel held ${toMebibytes(held)} MiB, told were ${toMebibytes(toldBytes)}`)
      const worked = readThreadSeconds() - before.cpu
      const elapsed = (performance.now() - before.time) / 1000
      if (worked > cpuSlackSeconds * timeFactor + elapsed * cpuShare)
        faults.push(`the kernel's threads worked ${worked.toFixed(1)} s in ${elapsed.toFixed(1)} s`)
      let left = readKernelBytes() - before.memory
      for (let waited = 0; left > memorySlackBytes && waited < settleMilliseconds; waited += 100) {
        await delay(100)
        left = readKernelBytes() - before.memory
      }
      if (left > memorySlackBytes) faults.push(`${toMebibytes(left)} MiB of the kernel's are left`)
      return faults
    },
  }
}

const toMebibytes = (bytes: number): number => Math.round(bytes / mebibyte)
