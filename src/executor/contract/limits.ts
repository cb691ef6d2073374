// The limits that hold when an operator sets none, and how many bytes of a compiler's messages are kept.
// Its own file so that configuration and tests can read the figures without starting anything.
import type { Language, Limits, PhaseLimits } from './request.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** Bytes of a compiler's messages kept; `compile.stderrBytes` is the larger amount that stops the compiler. */
export const compileMessageBytes = 64 * kibibyte

const run: PhaseLimits = {
  cpuSeconds: 5,
  wallSeconds: 10,
  memoryBytes: 256 * mebibyte,
  processes: 64,
  stdoutBytes: mebibyte,
  stderrBytes: 256 * kibibyte,
  diskBytes: 64 * mebibyte,
}

// The compiled program leaves the box over stdout, so stdoutBytes bounds its size.
const compile: PhaseLimits = {
  cpuSeconds: 15,
  wallSeconds: 20,
  memoryBytes: 1024 * mebibyte,
  processes: 256,
  stdoutBytes: 64 * mebibyte,
  stderrBytes: mebibyte,
  diskBytes: 256 * mebibyte,
}

/** Default limits of each language. A JVM needs more memory and some twenty threads of its own. */
export const defaultLimits: Readonly<Record<Language, Limits>> = {
  python: { compile: null, run },
  cpp: { compile, run },
  java: {
    // Every class file is read here, on the event loop.
    compile: { ...compile, stdoutBytes: 8 * mebibyte },
    run: { ...run, memoryBytes: 512 * mebibyte, processes: 256 },
  },
}

/** What a keeper (keeper/keeper.c) may take before it has its first request, as its cgroup wants it. */
export const keeperLimits = { memoryBytes: 256 * mebibyte, processes: 64 } as const
