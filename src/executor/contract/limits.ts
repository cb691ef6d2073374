// Limits of our own, which no operator sets.

/** Bytes of a compiler's messages kept; `compile.stderrBytes` is the larger amount that stops the compiler. */
export const compileMessageBytes = 64 * 1024

/** What a keeper (box/keeper/keeper.c) may take before it has its first request, as its cgroup wants it. */
export const keeperLimits = { memoryBytes: 256 * 1024 * 1024, processes: 64 } as const

/**
 * What one process may have of descriptors and of locked bytes, so that all of a box have so many together at most: what the kernel
 * keeps for some descriptors is charged to nobody, and a locked page may be another slot's (first-process.c).
 */
export function findOwnLimits(processes: number): {
  readonly openFiles: number
  readonly lockedBytes: number
} {
  const share = (together: number, least: number, most: number): number =>
    Math.min(Math.max(Math.floor(together / Math.max(processes, 1)), least), most)
  return {
    openFiles: share(128 * 1024, 256, 1024),
    lockedBytes: share(4 * 1024 * 1024, 4096, 64 * 1024),
  }
}
