// A phase's limits, and the usual ones when an operator sets none.

/** A phase that passes one of these ends and says which. */
export interface PhaseLimits {
  /** User + system time of all processes. */
  readonly cpuSeconds: number
  /** Monotonic, from the program's start. */
  readonly wallSeconds: number
  /** The cgroup's limit; swap is off. */
  readonly memoryBytes: number
  /** Processes and threads, without the sandbox's own. */
  readonly processes: number
  /** Bytes kept; one more ends the phase. A compiler's stdout carries the program. */
  readonly stdoutBytes: number
  /** Bytes kept, fewer of a compiler's; one more ends the phase. */
  readonly stderrBytes: number
  /** Size of /box, /tmp and /dev/shm each. */
  readonly diskBytes: number
}

/** How the log spells each. */
export const limitSpellings = {
  cpuSeconds: 'cpu_time',
  wallSeconds: 'wall_time',
  memoryBytes: 'memory',
  processes: 'processes',
  stdoutBytes: 'stdout',
  stderrBytes: 'stderr',
  diskBytes: 'disk',
} as const satisfies Record<keyof PhaseLimits, string>

/** Limits as the log spells them, those that are there. */
export function spellLimits(limits: Partial<PhaseLimits>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(limitSpellings).flatMap(([name, spelling]) => {
      const limit = limits[name as keyof PhaseLimits]
      return limit === undefined ? [] : [[spelling, limit]]
    }),
  )
}

/** `compile` is null without a compiler. */
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

/** For a virtual machine with twenty threads of its own. */
export const virtualMachineRun: PhaseLimits = {
  ...usualRun,
  memoryBytes: 512 * mebibyte,
  processes: 256,
}

/** stdoutBytes bounds the compiled program. */
export const usualCompile: PhaseLimits = {
  cpuSeconds: 15,
  wallSeconds: 20,
  memoryBytes: 1024 * mebibyte,
  processes: 256,
  stdoutBytes: 64 * mebibyte,
  stderrBytes: mebibyte,
  diskBytes: 256 * mebibyte,
}

/** For compilers that take seconds for any program on a slow machine. */
export const slowCompile: PhaseLimits = { ...usualCompile, cpuSeconds: 45, wallSeconds: 60 }
