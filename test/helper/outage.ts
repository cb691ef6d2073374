// How long something takes after an outage, by a clock that runs slower where the machine does, and a server that stands
// still as a whole.
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#database'

const tickMilliseconds = 20

/**
 * Waits until it is done.
 * @returns how many seconds that took. A tick that comes late counts as little more than one: late then is the machine.
 */
export async function secondsUntil(done: () => Promise<boolean>): Promise<number> {
  let milliseconds = 0
  let tickedAt = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    milliseconds += Math.min(now - tickedAt, 2 * tickMilliseconds)
    tickedAt = now
  }, tickMilliseconds)
  try {
    while (!(await done())) await sleep(tickMilliseconds)
  } finally {
    clearInterval(timer)
  }
  return milliseconds / 1000
}

/** The middle one; of an even number the greater of both. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}

/** Stops every process of a server of the test's own, as a frozen virtual machine would. @returns what lets it go on. */
export async function freezeServer(sql: Database): Promise<() => void> {
  const [row] = await sql`select pg_backend_pid() as pid`
  const status = readFileSync(`/proc/${row?.['pid'] as number}/status`, 'utf8')
  const postmaster = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1])
  // The postmaster stands still first and goes on last: meanwhile no child is added, and one that has ended keeps its
  // process number.
  process.kill(postmaster, 'SIGSTOP')
  while (!isStopped(postmaster)) await sleep(1)
  const children = findChildren(postmaster)
  for (const pid of children) process.kill(pid, 'SIGSTOP')
  return () => {
    for (const pid of [...children, postmaster]) process.kill(pid, 'SIGCONT')
  }
}

function isStopped(pid: number): boolean {
  return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}

function findChildren(parent: number): number[] {
  return readdirSync(`/proc/${parent}/task`).flatMap((task) =>
    readFileSync(`/proc/${parent}/task/${task}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter((pid) => pid !== '')
      .map(Number),
  )
}
