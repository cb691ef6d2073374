// The shape of the hostile suite's tables. A new attack is one new row in a table in attack/: a name that states the fact
// that must hold, a body in each language where it makes sense (program.ts describes its frame and the functions that it may
// call), and the allowed fates. No other file needs a change.
import type { Ending, Network } from '#executor'
import { languages } from '#language'
import type { Language } from '#language'
import { wrapBody } from './program.ts'
import type { Attacker } from './program.ts'

/**
 * A possible result of an attack: an ending of the attacked phase. `exited` means that the program reached its last line and
 * that everything was refused; `crashed` is an exit with a status other than 0.
 */
export type Fate = Ending | 'crashed'

/**
 * The limits that an attack runs under (profile.ts). `bomb`: little of everything; `probe`: room to look around; `compile`:
 * limits for a compiler under attack. For the languages in language/, `language` has a language's usual limits and
 * `compiler` has tight limits for its compiler.
 */
export type Profile = 'bomb' | 'probe' | 'compile' | 'language' | 'compiler'

/** One attack, in one or more languages. */
export interface Attack {
  /** The fact that holds, in plain words. */
  readonly name: string
  readonly profile: Profile
  /** The attacked phase. The source of a compile attack may compile; then its program runs and must do no harm. */
  readonly phase: 'compile' | 'run'
  /** Whole sources. canary.ts replaces marks of the form `@NAME@` with the values that it planted. */
  readonly code: Partial<Record<Language, string>>
  readonly stdin?: string
  /** The network of the run; `none` by default. A row that sets it runs with this network only. */
  readonly network?: Network | undefined
  /** The output files that the run requests. */
  readonly outputFiles?: readonly string[]
  readonly fates: readonly Fate[]
  /** What the output must contain. It proves that the same attack would show a file of the host if it could read it. */
  readonly shows?: RegExp
  /** The attack aims at costs of the host that the run does not report, so account.ts measures them. */
  readonly accounted?: true
}

/** The fates of what would never end by itself: any limit ends it. */
export const stopped: readonly Fate[] = ['cpu_limit', 'wall_limit', 'memory_limit']

/** Bodies by language. */
export type Bodies = Partial<Record<Attacker, string>>

/** Returns the languages that a row is written in. */
export function listLanguages<L extends Language>(code: Partial<Record<L, unknown>>): L[] {
  return languages.filter(
    (name): name is L => (code as Record<string, unknown>)[name] !== undefined,
  )
}

function wrapAll(bodies: Bodies): Bodies {
  return Object.fromEntries(
    listLanguages(bodies).map((language) => [language, wrapBody(language, bodies[language]!)]),
  )
}

/** An attack that exhausts a resource. It ends by a limit, or finds that the resource is bounded and prints that. */
export function bomb(
  name: string,
  fates: readonly Fate[],
  bodies: Bodies,
  more: Partial<Attack> = {},
): Attack {
  return { name, profile: 'bomb', phase: 'run', code: wrapAll(bodies), fates, ...more }
}

/** An attack that reaches outside its box. Every attempt must be refused. */
export function probe(name: string, bodies: Bodies, more: Partial<Attack> = {}): Attack {
  return { name, profile: 'probe', phase: 'run', code: wrapAll(bodies), fates: ['exited'], ...more }
}

/** An attack through the compiler. The sources are whole. */
export function compile(
  name: string,
  fates: readonly Fate[],
  code: Partial<Record<Attacker, string>>,
  more: Partial<Attack> = {},
): Attack {
  return { name, profile: 'compile', phase: 'compile', code, fates, ...more }
}
