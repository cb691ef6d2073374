// Loads the programs of every language. Each file exports them under its language's name: ruby.ts exports `ruby`.
import { languages } from '#language'
import type { Language } from '#language'
import type { Programs } from './program.ts'

async function load(language: Language): Promise<Programs> {
  const module = (await import(`./${language}.ts`)) as Record<string, Programs | undefined>
  const found = module[language]
  if (found === undefined) throw new Error(`${language}.ts does not export ${language}`)
  return found
}

/** Loads the programs of these languages. @throws when a language has none. */
export async function loadPrograms(
  wanted: readonly Language[] = languages,
): Promise<ReadonlyMap<Language, Programs>> {
  return new Map(
    await Promise.all(wanted.map(async (language) => [language, await load(language)] as const)),
  )
}
