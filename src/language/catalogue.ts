// Tables that are derived from the languages' definitions.
import * as module from './all.ts'
import type { LanguageDefinition } from './definition.ts'
import { usualCompile, usualRun } from './limits.ts'
import type { Limits } from './limits.ts'

/** A canonical name: in the log, in records, and in capitals in the names of the limits' variables. */
export type Language = keyof typeof module

const all: Readonly<Record<Language, LanguageDefinition>> = module

/** All languages in the order for people: the five named here, then the others in the module's order, which is alphabetical. */
export const languages: readonly Language[] = [
  ...new Set<Language>([
    'python',
    'cpp',
    'java',
    'javascript',
    'typescript',
    ...(Object.keys(all) as Language[]),
  ]),
]

/** A definition with its name, and with default values for missing fields. */
export interface CompleteDefinition extends LanguageDefinition {
  readonly name: Language
  readonly aliases: readonly string[]
  readonly extensions: readonly string[]
  readonly limits: Limits
}

const definitions = languages.map(complete)

export const catalogue: Readonly<Record<Language, CompleteDefinition>> = mapLanguages(
  (definition) => definition,
)

/** The limits by language when an operator sets none. */
export const defaultLimits: Readonly<Record<Language, Limits>> = mapLanguages(
  ({ limits }) => limits,
)

/** Canonical names by name and alias. */
export const languagesByName = indexLanguages(({ name, aliases }) => [name, ...aliases])

/** Canonical names by file extension. */
export const languagesByExtension = indexLanguages(({ extensions }) => extensions)

/** Finds a language by its name or an alias, in upper or lower case, as operators write them. */
export function findLanguage(name: string): Language | undefined {
  return languagesByName[name.toLowerCase()]
}

export function mapLanguages<T>(value: (definition: CompleteDefinition) => T): Record<Language, T> {
  const entries = definitions.map((definition) => [definition.name, value(definition)])
  return Object.fromEntries(entries) as Record<Language, T>
}

function indexLanguages(
  keys: (definition: CompleteDefinition) => readonly string[],
): Readonly<Record<string, Language>> {
  const entries = definitions.flatMap((definition) =>
    keys(definition).map((key) => [key, definition.name]),
  )
  // Without a prototype, because `constructor` is not a language.
  return { __proto__: null, ...Object.fromEntries(entries) } as Record<string, Language>
}

/** Completes a definition with the usual values of missing fields. */
function complete(name: Language): CompleteDefinition {
  const { aliases = [], extensions = [], recipe, limits } = all[name]
  const usual = { compile: recipe?.compile ? usualCompile : null, run: usualRun }
  return { ...all[name], name, aliases, extensions, limits: { ...usual, ...limits } }
}
