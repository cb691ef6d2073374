// Limits as execution.started and the worker's row spell them.
import { spellLimits } from '#language'
import type { Limits } from '#language'

/** `compile` is null for a language without a compiler. */
export function describeLimits({ compile, run }: Limits): object {
  return { compile: compile && spellLimits(compile), run: spellLimits(run) }
}
