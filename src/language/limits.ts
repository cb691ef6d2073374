// The limits of a phase, and their defaults when an operator sets none.

/** Limits of a phase. A phase that exceeds one is stopped, and its ending names the limit. */
export interface PhaseLimits {
  /** User and system CPU time of all processes. */
  readonly cpuSeconds: number
  /** Time from the program's start, by a monotonic clock. */
  readonly wallSeconds: number
  /** Memory limit of the cgroup; swap is off. */
  readonly memoryBytes: number
  /** Number of processes and threads, without those of the sandbox. */
  readonly processes: number
  /** Number of bytes kept; one more byte ends the phase. A compiler's stdout carries the program. */
  readonly stdoutBytes: number
  /** Number of bytes kept, fewer for a compiler; one more byte ends the phase. */
  readonly stderrBytes: number
  /** Size of /box, /tmp and /dev/shm each. */
  readonly diskBytes: number
}

/** The names of the limits in the log. */
export const limitSpellings = {
  cpuSeconds: 'cpu_time',
  wallSeconds: 'wall_time',
  memoryBytes: 'memory',
  processes: 'processes',
  stdoutBytes: 'stdout',
  stderrBytes: 'stderr',
  diskBytes: 'disk',
} as const satisfies Record<keyof PhaseLimits, string>

/** Returns the limits that are set, with their names in the log. */
export function spellLimits(limits: Partial<PhaseLimits>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(limitSpellings).flatMap(([name, spelling]) => {
      const limit = limits[name as keyof PhaseLimits]
      return limit === undefined ? [] : [[spelling, limit]]
    }),
  )
}

/** The limits of a language; `compile` is null for a language without a compiler. */
export interface Limits {
  readonly compile: PhaseLimits | null
  readonly run: PhaseLimits
}

const kibibyte = 1024
export const mebibyte = 1024 * kibibyte

export const usualRun: PhaseLimits = {
  cpuSeconds: 5,
  wallSeconds: 10,
  memoryBytes: 256 * mebibyte,
  processes: 64,
  stdoutBytes: mebibyte,
  stderrBytes: 256 * kibibyte,
  diskBytes: 64 * mebibyte,
}

/** Run limits for a virtual machine that itself has twenty threads. */
export const virtualMachineRun: PhaseLimits = {
  ...usualRun,
  memoryBytes: 512 * mebibyte,
  processes: 256,
}

/** The usual compile limits; `stdoutBytes` limits the size of the compiled program. */
export const usualCompile: PhaseLimits = {
  cpuSeconds: 15,
  wallSeconds: 20,
  memoryBytes: 1024 * mebibyte,
  processes: 256,
  stdoutBytes: 64 * mebibyte,
  stderrBytes: mebibyte,
  diskBytes: 256 * mebibyte,
}

/** Compile limits for compilers that take seconds for any program on a slow machine. */
export const slowCompile: PhaseLimits = { ...usualCompile, cpuSeconds: 45, wallSeconds: 60 }
