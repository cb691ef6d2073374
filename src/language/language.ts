// The door to the languages: what can be known of one without looking at a host. A language is one file of this folder and a
// line in the catalogue; configuration, HTTP, the command line, the doctor and the worker read it here. Where its compiler
// stands, and how a program is run, its folder in src/executor/toolchain finds.
export * from './catalogue.ts'
export { cpp } from './cpp.ts'
export type { LanguageDefinition, Recipe, Tool } from './definition.ts'
export { java } from './java.ts'
export { limitSpellings } from './limits.ts'
export type { Limits, PhaseLimits } from './limits.ts'
export { python } from './python.ts'
