// What a program may take, and what most languages' programs may when an operator sets nothing else.

/** Limits of one phase. A phase that passes one of them is ended and says which. */
export interface PhaseLimits {
  /** User + system time of all processes of the phase together, in seconds. */
  readonly cpuSeconds: number
  /** Monotonic time from the program's start, in seconds. */
  readonly wallSeconds: number
  /** The cgroup's memory limit, in bytes; swap is off. */
  readonly memoryBytes: number
  /** Processes and threads together, the sandbox's own not counted. */
  readonly processes: number
  /** Bytes of stdout kept; one more ends the phase. A compiler's stdout carries the compiled program. */
  readonly stdoutBytes: number
  /** Bytes of stderr kept; one more ends the phase. Of a compiler's messages fewer are kept. */
  readonly stderrBytes: number
  /** Size of the scratch disk (/box and /tmp each), in bytes. */
  readonly diskBytes: number
}

/** How the log spells each. */
export const limitSpellings = {
  cpuSeconds: 'cpu_seconds',
  wallSeconds: 'wall_seconds',
  memoryBytes: 'memory_bytes',
  processes: 'processes',
  stdoutBytes: 'stdout_bytes',
  stderrBytes: 'stderr_bytes',
  diskBytes: 'disk_bytes',
} as const satisfies Record<keyof PhaseLimits, string>

/** The limits of both phases; `compile` is null for a language without a compiler. */
export interface Limits {
  readonly compile: PhaseLimits | null
  readonly run: PhaseLimits
}

const kibibyte = 1024
/** Bytes. */
export const mebibyte = 1024 * kibibyte

/** Of a run. */
export const usualRun: PhaseLimits = {
  cpuSeconds: 5,
  wallSeconds: 10,
  memoryBytes: 256 * mebibyte,
  processes: 64,
  stdoutBytes: mebibyte,
  stderrBytes: 256 * kibibyte,
  diskBytes: 64 * mebibyte,
}

/** Of a program on a virtual machine that has twenty threads of its own. */
export const virtualMachineRun: PhaseLimits = {
  ...usualRun,
  memoryBytes: 512 * mebibyte,
  processes: 256,
}

/** Of a compiler. The compiled program leaves the box over stdout, so stdoutBytes bounds its size. */
export const usualCompile: PhaseLimits = {
  cpuSeconds: 15,
  wallSeconds: 20,
  memoryBytes: 1024 * mebibyte,
  processes: 256,
  stdoutBytes: 64 * mebibyte,
  stderrBytes: mebibyte,
  diskBytes: 256 * mebibyte,
}

/** Of a compiler that takes seconds for the least of programs on a slow machine. */
export const slowCompile: PhaseLimits = { ...usualCompile, cpuSeconds: 45, wallSeconds: 60 }
