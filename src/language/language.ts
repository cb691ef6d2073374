// The door to the languages: what can be known of one without looking at a host. A language is one file of this folder and a
// line in the catalogue; configuration, HTTP, the command line and the worker read it here. Where its compiler stands, and
// how a program is run, src/executor/toolchain finds.
export * from './catalogue.ts'
export type { LanguageDefinition } from './definition.ts'
export type { Limits, PhaseLimits } from './limits.ts'
