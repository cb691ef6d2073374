// Measures an exchange with the counters of the resident's cgroup, and reports an exceeded limit.
import type { KeeperGroup } from '#cgroup'
import { roundSeconds } from '#contract'
import type { PhaseLimits, Usage } from '#contract'

export interface Meter {
  /**
   * Returns the usage since the meter's start. The memory peak is the highest value that was read.
   * @throws when the out-of-memory killer killed a process, or the counters cannot be read.
   */
  read(): Usage
  stop(): void
}

/** The shortest and longest time between two readings of the counters, in milliseconds. */
const shortestLook = 5
const longestLook = 20

/**
 * Starts a meter.
 * @param onLimit called when CPU or wall time passes its limit, or `read` would throw.
 * @throws when the counters cannot be read.
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
    // The wait assumes that the box uses at most two cores (cpu-quota.ts). A box with more cores may pass its limit by more.
    const leftMilliseconds = ((limits.cpuSeconds - usedSeconds) * 1000) / 2
    look = setTimeout(lookAgain, Math.max(shortestLook, Math.min(longestLook, leftMilliseconds)))
  }

  schedule(0)
  return { read, stop: () => clearTimeout(look) }
}
