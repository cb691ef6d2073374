// How each language of the catalogue is found on a host: a line each. The one place of the executor that names them.
import type { Language } from '#language'
import { findCpp } from './cpp/cpp.ts'
import type { FindToolchain } from './definition.ts'
import { findJava } from './java/java.ts'
import { findPython } from './python/python.ts'

export const finders: Readonly<Record<Language, FindToolchain>> = {
  python: findPython,
  cpp: findCpp,
  java: findJava,
}
