// All languages, a line each, and what follows from their definitions.
import * as v from 'valibot'
import { cpp } from './cpp.ts'
import type { LanguageDefinition } from './definition.ts'
import { java } from './java.ts'
import type { Limits } from './limits.ts'
import { python } from './python.ts'

const definitions = [python, cpp, java] as const

/** A canonical language name. */
export type Language = (typeof definitions)[number]['name']

/** Canonical names; aliases are folded as soon as a request is read. */
export const languages: readonly Language[] = definitions.map(({ name }) => name)

type Merge<Union> = (Union extends unknown ? (part: Union) => void : never) extends (
  whole: infer Whole,
) => void
  ? Whole
  : never

type SettingEntries = Merge<(typeof definitions)[number]['settings']>

/** What all languages' own variables say. */
export type LanguageSettings = v.InferOutput<v.ObjectSchema<SettingEntries, undefined>>

/** All languages' own variables, as they are read from a worker's environment. */
export const settingEntries: SettingEntries = Object.assign(
  {},
  ...definitions.map(({ settings }) => settings),
)

/** What they say when nobody has set one. */
export const defaultSettings: LanguageSettings = v.parse(v.object(settingEntries), {})

/** Definitions by their names. */
export const catalogue: Readonly<Record<Language, LanguageDefinition>> = mapLanguages(
  (definition) => definition,
)

/** The limits that hold when an operator sets none. */
export const defaultLimits: Readonly<Record<Language, Limits>> = mapLanguages(
  ({ limits }) => limits,
)

/** The canonical name of each name that people may type. */
export const languagesByName = indexLanguages(({ name, aliases }) => [name, ...aliases])

/** The canonical name of what a source file's name ends with. */
export const languagesByExtension = indexLanguages(({ extensions }) => extensions)

/** One value for each language. */
export function mapLanguages<T>(
  value: (definition: LanguageDefinition & { readonly name: Language }) => T,
): Record<Language, T> {
  const entries = definitions.map((definition) => [definition.name, value(definition)])
  return Object.fromEntries(entries) as Record<Language, T>
}

function indexLanguages(
  keys: (definition: LanguageDefinition) => readonly string[],
): Readonly<Record<string, Language>> {
  return Object.fromEntries(
    definitions.flatMap((definition) => keys(definition).map((key) => [key, definition.name])),
  )
}
