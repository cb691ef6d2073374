// Limits of our own, which no operator sets.

/** Bytes of a compiler's messages kept; `compile.stderrBytes` is the larger amount that stops the compiler. */
export const compileMessageBytes = 64 * 1024

/** What a keeper (box/keeper/keeper.c) may take itself, beside its boxes, as its cgroup wants it. */
export const keeperLimits = { memoryBytes: 256 * 1024 * 1024, processes: 64 } as const
