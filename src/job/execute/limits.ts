// Limits as execution.started and the worker's row spell them.
import type { Limits, PhaseLimits } from '#language'

/** `compile` is null for a language without a compiler. */
export function describeLimits({ compile, run }: Limits): object {
  return { compile: compile === null ? null : describePhase(compile), run: describePhase(run) }
}

function describePhase(limits: PhaseLimits): object {
  return {
    cpu_seconds: limits.cpuSeconds,
    wall_seconds: limits.wallSeconds,
    memory_bytes: limits.memoryBytes,
    processes: limits.processes,
    stdout_bytes: limits.stdoutBytes,
    stderr_bytes: limits.stderrBytes,
    disk_bytes: limits.diskBytes,
  }
}
