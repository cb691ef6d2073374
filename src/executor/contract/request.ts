// What the executor is asked to do: a program, its input, and the limits that hold for it.
// Its own file because every part of the executor reads these types and none may depend on another part.

/** Canonical language names; aliases are folded before a request gets here. */
export const languages = ['python', 'cpp', 'java'] as const

/** A canonical language name. */
export type Language = (typeof languages)[number]

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
  /** Bytes of stderr kept; one more ends the phase. Of a compiler's messages fewer are kept (limits.ts). */
  readonly stderrBytes: number
  /** Size of the scratch disk (/box and /tmp each), in bytes. */
  readonly diskBytes: number
}

/** The limits of both phases; `compile` is null for a language without a compiler. */
export interface Limits {
  readonly compile: PhaseLimits | null
  readonly run: PhaseLimits
}

/** One program to run once. */
export interface ExecutionRequest {
  readonly language: Language
  /** The source, UTF-8; any bytes, NUL included. */
  readonly code: Uint8Array
  /** Fed to the program's standard input, then closed. */
  readonly stdin: Uint8Array
  /** Whose program it is: what is kept of its compilation is found again under the same name alone. */
  readonly cacheScope: string
}
