// What follows from the languages' definitions.
import * as v from 'valibot'
import * as all from './all.ts'
import type { CompleteDefinition, LanguageDefinition } from './definition.ts'
import { usualCompile, usualRun } from './limits.ts'
import type { Limits } from './limits.ts'

type Definition = (typeof all)[keyof typeof all]

export type Language = Definition['name']

type NamedDefinition = CompleteDefinition & { readonly name: Language }

/** As people see them: the first ones, then all others in a module's order, which is that of the alphabet. */
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

/** Canonical names; aliases are resolved as soon as a request is read. */
export const languages: readonly Language[] = definitions.map(({ name }) => name)

type Merge<Union> = (Union extends unknown ? (part: Union) => void : never) extends (
  whole: infer Whole,
) => void
  ? Whole
  : never

type SettingEntries = Merge<Extract<Definition, { readonly settings: unknown }>['settings']>

export type LanguageSettings = v.InferOutput<v.ObjectSchema<SettingEntries, undefined>>

/** All languages' own variables in a worker's environment. */
export const settingEntries: SettingEntries = Object.assign(
  {},
  ...definitions.map(({ settings }) => settings),
)

/** Without any variable set. */
export const defaultSettings: LanguageSettings = v.parse(v.object(settingEntries), {})

export const catalogue: Readonly<Record<Language, CompleteDefinition>> = mapLanguages(
  (definition) => definition,
)

/** Used when an operator sets none. */
export const defaultLimits: Readonly<Record<Language, Limits>> = mapLanguages(
  ({ limits }) => limits,
)

/** Canonical names by names and aliases. */
export const languagesByName = indexLanguages(({ name, aliases }) => [name, ...aliases])

/** Canonical names by file extension. */
export const languagesByExtension = indexLanguages(({ extensions }) => extensions)

/** By any of its names, in upper or lower case, as operators write them. */
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
  // Without a prototype, whose `constructor` is no language.
  return { __proto__: null, ...Object.fromEntries(entries) } as Record<string, Language>
}

/** With usual values for what its file leaves out. */
function complete(definition: Definition): NamedDefinition {
  const { aliases = [], settings = {}, recipe, limits }: LanguageDefinition = definition
  const usual = { compile: recipe?.compile ? usualCompile : null, run: usualRun }
  return { ...definition, aliases, settings, limits: { ...usual, ...limits } }
}
