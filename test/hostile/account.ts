// What the host pays beside what runs are told: the kernel's own memory, which programs fill by sockets, pipes and the
// like, and CPU time of its threads. Other work on the machine has its share in both, so the bounds are wide, and what
// user processes hold themselves is left out.
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { timeFactor } from '../helper/executor.ts'

const mebibyte = 1024 * 1024
/** What the kernel may hold beyond what runs were told, at once and after them. */
const memorySlackBytes = 320 * mebibyte
/** What the kernel's threads may work for a group of attacks; its boxes are made and cleared away, too. */
const cpuSlackSeconds = 1
const cpuShare = 0.25
const sampleMilliseconds = 50
const settleMilliseconds = 5000

/** Memory of the kernel's that it could not give back at once: neither user processes' nor the page cache's. */
function readKernelBytes(): number {
  const text = readFileSync('/proc/meminfo', 'utf8')
  const read = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'mu').exec(text)?.[1] ?? 0) * 1024
  const others = ['MemFree', 'Buffers', 'Cached', 'SwapCached', 'AnonPages', 'SReclaimable']
  return others.reduce((rest, name) => rest - read(name), read('MemTotal'))
}

/** CPU time of all the kernel's threads, in seconds: children of the second process, where it can be seen. */
function readThreadSeconds(): number {
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/u.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (fields[1] === '2') ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // It has ended meanwhile.
    }
  }
  return ticks / 100
}

export interface Account {
  /** What is wrong, once all has settled. @param toldBytes what the runs together were told of memory. */
  settle(toldBytes: number): Promise<string[]>
}

/** Opens the account; looks at the memory until it is settled. */
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
