// Limits of programs as requests name them.
import type { PhaseLimits } from '#language'

/** Each as the executor calls it. */
export const limitNames = {
  cpu_time: 'cpuSeconds',
  wall_time: 'wallSeconds',
  memory: 'memoryBytes',
  stdout: 'stdoutBytes',
  stderr: 'stderrBytes',
  disk: 'diskBytes',
  processes: 'processes',
} as const satisfies Record<string, keyof PhaseLimits>

export type LimitName = keyof typeof limitNames

/** Those that are given. */
export function toPhaseLimits(
  given: Readonly<Partial<Record<LimitName, number | undefined>>>,
): Partial<PhaseLimits> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [limitNames[name as LimitName], value]),
  )
}
