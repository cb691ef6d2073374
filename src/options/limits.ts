// Limits of programs as requests name them.
import { limitSpellings } from '#language'
import type { PhaseLimits } from '#language'

export type LimitName = (typeof limitSpellings)[keyof PhaseLimits]

/** Each as the executor calls it. */
export const limitNames = Object.fromEntries(
  Object.entries(limitSpellings).map(([own, name]) => [name, own]),
) as Readonly<Record<LimitName, keyof PhaseLimits>>

/** Those that are given. */
export function toPhaseLimits(
  given: Readonly<Partial<Record<LimitName, number | undefined>>>,
): Partial<PhaseLimits> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [limitNames[name as LimitName], value]),
  )
}
