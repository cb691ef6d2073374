// Watches a running phase's clocks and the out-of-memory killer; the caller stops it.
import type { Cgroup } from '#cgroup'
import type { PhaseLimits, Reason } from '#contract'

/** Milliseconds between two readings of the counters. */
const shortestLook = 5
const longestLook = 20

/**
 * Calls `stop` when a clock passes its limit, the out-of-memory killer strikes, or the counters cannot be read.
 * @param started by `performance.now()`.
 */
export function watchLimits(
  group: Cgroup,
  limits: PhaseLimits,
  started: number,
  stop: (why: Reason) => void,
): { stop(): void } {
  const wall = setTimeout(
    // Lets Node first read an end that has happened.
    () => setImmediate(stop, 'wall_limit'),
    limits.wallSeconds * 1000 - (performance.now() - started),
  )
  let look: NodeJS.Timeout
  const schedule = (usedSeconds: number): void => {
    // At most two cores at once, as a rule (cpu-quota.ts): a box that has more may pass its limit by more.
    const leftMilliseconds = ((limits.cpuSeconds - usedSeconds) * 1000) / 2
    const pause = Math.max(shortestLook, Math.min(longestLook, leftMilliseconds))
    look = setTimeout(() => {
      // cgroup v1 kills only one process.
      try {
        if (group.readOutOfMemoryKills() > 0) {
          stop('memory_limit')
          return
        }
        const used = group.readCpuSeconds()
        if (used > limits.cpuSeconds) stop('cpu_limit')
        else schedule(used)
      } catch {
        stop('unwatched')
      }
    }, pause)
  }
  schedule(0)
  return {
    stop() {
      clearTimeout(wall)
      clearTimeout(look)
    },
  }
}
