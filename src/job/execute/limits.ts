// Limits as they are recorded: in execution.started and in a worker's own row, spelt as everything else in the log.
import type { Limits, PhaseLimits } from '#language'

/** The limits of both phases, in seconds and bytes; `compile` is null for a language without a compiler. */
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
