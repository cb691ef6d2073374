// The shape of the hostile suite's tables. Adding an attack is adding one row to a table in attack/: a name that states
// the fact to be kept, a body in each language where it makes sense (program.ts says what surrounds it and which
// functions it may call), and the fates that are right for it. Nothing else has to be touched.
import type { Ending, Network } from '#executor'
import { languages } from '#language'
import type { Language } from '#language'
import { wrapBody } from './program.ts'
import type { Attacker } from './program.ts'

/**
 * What may become of an attack: an ending of the phase attacked, where `exited` means that the program reached its last
 * line and found everything refused; `crashed` is an exit with a status other than 0.
 */
export type Fate = Ending | 'crashed'

/**
 * Limits that an attack runs under (profile.ts): little of everything, or room to look around, or a compiler's; and in further
 * languages (language/) what programs of each have anyway, or next to nothing for their compilers.
 */
export type Profile = 'bomb' | 'probe' | 'compile' | 'language' | 'compiler'

/** One attack, in one or more languages. */
export interface Attack {
  /** What holds, as a plain fact. */
  readonly name: string
  readonly profile: Profile
  /** The phase that is attacked. A compile attack may also compile; then its program runs and must do no harm. */
  readonly phase: 'compile' | 'run'
  /** Whole sources. Marks of the form `@NAME@` become what canary.ts planted. */
  readonly code: Partial<Record<Language, string>>
  readonly stdin?: string
  /** What it has of a network; none unless said. A row that says it is not made otherwise. */
  readonly network?: Network | undefined
  /** Asked for when it runs. */
  readonly outputFiles?: readonly string[]
  readonly fates: readonly Fate[]
  /** What it must show: proof that the same attack would show a file of the host's. */
  readonly shows?: RegExp
  /** It aims at what the host pays beside what the run is told; that is then measured (account.ts). */
  readonly accounted?: true
}

/** Bodies by language. */
export type Bodies = Partial<Record<Attacker, string>>

/** The languages that a row is written in. */
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

/** Exhausts something; ends by a limit, or finds the resource bounded and says so. */
export function bomb(
  name: string,
  fates: readonly Fate[],
  bodies: Bodies,
  more: Partial<Attack> = {},
): Attack {
  return { name, profile: 'bomb', phase: 'run', code: wrapAll(bodies), fates, ...more }
}

/** Reaches for what is not its own; every attempt must be refused. */
export function probe(name: string, bodies: Bodies, more: Partial<Attack> = {}): Attack {
  return { name, profile: 'probe', phase: 'run', code: wrapAll(bodies), fates: ['exited'], ...more }
}

/** Attacks through the compiler; sources are whole. */
export function compile(
  name: string,
  fates: readonly Fate[],
  code: Partial<Record<Attacker, string>>,
  more: Partial<Attack> = {},
): Attack {
  return { name, profile: 'compile', phase: 'compile', code, fates, ...more }
}
