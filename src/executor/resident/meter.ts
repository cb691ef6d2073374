// Measures an exchange by the resident's cgroup, and ends it at a limit.
import type { KeeperGroup } from '#cgroup'
import { roundSeconds } from '#contract'
import type { PhaseLimits, Usage } from '#contract'

export interface Meter {
  /**
   * What was used since its start; the peak is the highest charge that was seen.
   * @throws when the out-of-memory killer struck, or the counters cannot be read.
   */
  read(): Usage
  stop(): void
}

/** Milliseconds between two readings of the counters. */
const shortestLook = 5
const longestLook = 20

/**
 * @param onLimit called when a clock passes its limit, or `read` would throw.
 * @throws as `read`.
 */
export function startMeter(group: KeeperGroup, limits: PhaseLimits, onLimit: () => void): Meter {
  const started = performance.now()
  const before = group.readCounters()
  let memoryPeakBytes = 0
  let look: NodeJS.Timeout

  function read(): Usage {
    const { cpuSeconds, memoryBytes, outOfMemoryKills } = group.readCounters()
    if (outOfMemoryKills > 0) throw new Error('part of it was killed')
    memoryPeakBytes = Math.max(memoryPeakBytes, memoryBytes)
    return {
      cpuSeconds: roundSeconds(cpuSeconds - before.cpuSeconds),
      wallSeconds: roundSeconds((performance.now() - started) / 1000),
      memoryPeakBytes,
    }
  }

  function lookAgain(): void {
    try {
      const { cpuSeconds, wallSeconds } = read()
      if (cpuSeconds > limits.cpuSeconds || wallSeconds > limits.wallSeconds) onLimit()
      else schedule(cpuSeconds)
    } catch {
      onLimit()
    }
  }

  function schedule(usedSeconds: number): void {
    // At most two cores at once, as a rule (cpu-quota.ts): a box that has more may pass its limit by more.
    const leftMilliseconds = ((limits.cpuSeconds - usedSeconds) * 1000) / 2
    look = setTimeout(lookAgain, Math.max(shortestLook, Math.min(longestLook, leftMilliseconds)))
  }

  schedule(0)
  return { read, stop: () => clearTimeout(look) }
}
