// Tables that are derived from the languages' definitions.
import * as all from './all.ts'
import type { CompleteDefinition, LanguageDefinition } from './definition.ts'
import { usualCompile, usualRun } from './limits.ts'
import type { Limits } from './limits.ts'

type Definition = (typeof all)[keyof typeof all]

export type Language = Definition['name']

type NamedDefinition = CompleteDefinition & { readonly name: Language }

/** All languages in the order for people: the five named here, then the others in the module's order, which is alphabetical. */
const definitions = [
  ...new Set<Definition>([
    all.python,
    all.cpp,
    all.java,
    all.javascript,
    all.typescript,
    ...Object.values(all),
  ]),
].map(complete)

/** The canonical names. Aliases are resolved as soon as a request is read. */
export const languages: readonly Language[] = definitions.map(({ name }) => name)

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

export function mapLanguages<T>(value: (definition: NamedDefinition) => T): Record<Language, T> {
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
function complete(definition: Definition): NamedDefinition {
  const { aliases = [], extensions = [], recipe, limits }: LanguageDefinition = definition
  const usual = { compile: recipe?.compile ? usualCompile : null, run: usualRun }
  return { ...definition, aliases, extensions, limits: { ...usual, ...limits } }
}
