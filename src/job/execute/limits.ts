// Limits as execution.started and the worker's row spell them.
import { limitSpellings } from '#language'
import type { Limits, PhaseLimits } from '#language'

/** `compile` is null for a language without a compiler. */
export function describeLimits({ compile, run }: Limits): object {
  return { compile: compile === null ? null : describePhase(compile), run: describePhase(run) }
}

function describePhase(limits: PhaseLimits): object {
  return Object.fromEntries(
    Object.entries(limitSpellings).map(([name, spelling]) => [
      spelling,
      limits[name as keyof PhaseLimits],
    ]),
  )
}
