// Watches the clocks of an exchange and the out-of-memory killer; the caller stops it.
import type { KeeperGroup } from '#cgroup'
import type { PhaseLimits } from '#contract'

/** Milliseconds between two readings of the counters. */
const shortestLook = 5
const longestLook = 20

/**
 * Calls `stop` when a clock passes its limit, the out-of-memory killer strikes, or the counters cannot be read.
 * @param started by `performance.now()`.
 */
export function watchLimits(
  group: KeeperGroup,
  limits: PhaseLimits,
  started: number,
  stop: () => void,
): { stop(): void } {
  const wall = setTimeout(stop, limits.wallSeconds * 1000 - (performance.now() - started))
  let look: NodeJS.Timeout
  const schedule = (usedSeconds: number): void => {
    // At most two cores at once, as a rule (cpu-quota.ts): a box that has more may pass its limit by more.
    const leftMilliseconds = ((limits.cpuSeconds - usedSeconds) * 1000) / 2
    const pause = Math.max(shortestLook, Math.min(longestLook, leftMilliseconds))
    look = setTimeout(() => {
      try {
        const used = group.readCpuSeconds()
        if (group.readOutOfMemoryKills() > 0 || used > limits.cpuSeconds) stop()
        else schedule(used)
      } catch {
        stop()
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
