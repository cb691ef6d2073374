// How each language is found on a host: by its recipe or its own folder. Only here does the executor name languages.
import { mapLanguages } from '#language'
import type { Language, LanguageDefinition } from '#language'
import { findCpp } from './cpp/cpp.ts'
import type { FindToolchain } from './definition.ts'
import { findJava } from './java/java.ts'
import { findJavaScript, findTypeScript } from './node/node.ts'
import { findPython } from './python/python.ts'
import { findByRecipe } from './recipe.ts'

const special: Readonly<Partial<Record<Language, FindToolchain>>> = {
  python: findPython,
  cpp: findCpp,
  java: findJava,
  javascript: findJavaScript,
  typescript: findTypeScript,
}

export const finders: Readonly<Record<Language, FindToolchain>> = mapLanguages((definition) => {
  const { recipe }: LanguageDefinition = definition
  const find = special[definition.name] ?? (recipe && findByRecipe(definition, recipe))
  if (find === undefined) throw new Error(`${definition.name} has neither recipe nor folder`)
  return find
})
