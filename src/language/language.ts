// The entry module of the languages: everything that is known about them without examining a host. It serves configuration,
// HTTP, command line, doctor and worker. A language is one file here and one line in all.ts. Its recipe, or a folder in
// src/executor/toolchain, finds its compiler.
export * from './catalogue.ts'
export { cpp } from './cpp.ts'
export type { LanguageDefinition, Recipe, Tool } from './definition.ts'
export { judge0Ids, pistonNames, sandboxFusionNames } from './foreign-name.ts'
export { java } from './java.ts'
export { jobe } from './jobe.ts'
export * from './setting.ts'
export { limitSpellings, spellLimits, usualRun } from './limits.ts'
export type { Limits, PhaseLimits } from './limits.ts'
export { findNearestLanguage } from './nearest.ts'
export { python } from './python.ts'
export { refuseVariable } from './variable.ts'
