// Measures times after an outage with a clock that is slower on a slow machine, and freezes a whole PostgreSQL server.
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#database'

const tickMilliseconds = 20

/**
 * Waits until `done` is true.
 * @returns the seconds that it took. A late tick counts as at most two ticks, because the machine caused the delay.
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

/** Returns the middle figure; of an even number of figures, the greater of the two in the middle. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}

/**
 * Stops every process of the test's own server, as a frozen virtual machine would.
 * @returns a function that lets the server continue.
 */
export async function freezeServer(sql: Database): Promise<() => void> {
  const [row] = await sql`select pg_backend_pid() as pid`
  const status = readFileSync(`/proc/${row?.['pid'] as number}/status`, 'utf8')
  const postmaster = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1])
  // The postmaster is stopped first and continued last, so that no child is added meanwhile and the pid of a child that has
  // ended is not reused.
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
