// The limits of programs in requests.
import { limitSpellings } from '#language'
import type { PhaseLimits } from '#language'
import { described } from '#schema'
import { atLeast, fields, finite, whole } from './fields.ts'

export type LimitName = (typeof limitSpellings)[keyof PhaseLimits]

/** The executor's name of each limit, by the limit's name in requests. */
export const limitNames = Object.fromEntries(
  Object.entries(limitSpellings).map(([own, name]) => [name, own]),
) as Readonly<Record<LimitName, keyof PhaseLimits>>

// Below these limits no box could be made, or no program could run at all.
const mebibyte = 1024 * 1024
const least = { seconds: 0.001, memory: 16 * mebibyte, disk: mebibyte } as const

/** Returns the schema of limits. @param whose the first sentence of its description. */
// eslint-disable-next-line typescript/explicit-module-boundary-types -- the type is the schema, a second copy would drift
export const limits = (whose: string) =>
  described(
    fields(
      {
        cpu_time: atLeast(
          least.seconds,
          finite,
          'Seconds of CPU time, user + system, of all processes.',
        ),
        wall_time: atLeast(least.seconds, finite, 'Seconds from start to end.'),
        memory: atLeast(least.memory, whole, 'Bytes of memory.'),
        stdout: atLeast(1, whole, 'Bytes of stdout.'),
        stderr: atLeast(1, whole, 'Bytes of stderr.'),
        disk: atLeast(least.disk, whole, 'Bytes of scratch disk.'),
        processes: atLeast(1, whole, 'Processes and threads at once.'),
      },
      'limits',
    ),
    `${whose} Each is at most what the key's tier allows, or the language's default if that is more. An omitted limit is the language's default.`,
  )

/** Translates the given limits to the executor's names. */
export function toPhaseLimits(
  given: Readonly<Partial<Record<LimitName, number | undefined>>>,
): Partial<PhaseLimits> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [limitNames[name as LimitName], value]),
  )
}
