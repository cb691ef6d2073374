// Watches a running phase: its two clocks, and the out-of-memory killer. It says when to stop; the caller knows how.
import type { Cgroup } from '#cgroup'
import type { PhaseLimits, Reason } from '#contract'

/** Milliseconds between two looks at the counters: near the CPU limit, and otherwise. */
const shortestLook = 5
const longestLook = 20

/** Calls `stop` once a clock has passed its limit, or a process has fallen to the out-of-memory killer. */
export function watchLimits(
  group: Cgroup,
  limits: PhaseLimits,
  started: number,
  stop: (why: Reason) => void,
): { stop(): void } {
  const wall = setTimeout(
    // An end that has already happened is seen first: Node reads its input before it calls this.
    () => setImmediate(stop, 'wall_limit'),
    limits.wallSeconds * 1000 - (performance.now() - started),
  )
  let look: NodeJS.Timeout
  const schedule = (usedSeconds: number): void => {
    // At most two cores are used at once (cpu-quota.ts).
    const leftMilliseconds = ((limits.cpuSeconds - usedSeconds) * 1000) / 2
    const pause = Math.max(shortestLook, Math.min(longestLook, leftMilliseconds))
    look = setTimeout(() => {
      // cgroup v1 kills one process for want of memory and lets the others live on.
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
