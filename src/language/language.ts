// The door to the languages: what is known without looking at a host, for configuration, HTTP, command line, doctor and
// worker. A language is one file here and a line in all.ts. Its recipe, or a folder in src/executor/toolchain,
// finds its compiler.
export * from './catalogue.ts'
export { cpp } from './cpp.ts'
export type { CompleteDefinition, LanguageDefinition, Recipe, Tool } from './definition.ts'
export { judge0Ids, pistonNames, sandboxFusionNames } from './door-name.ts'
export { java } from './java.ts'
export { jobe } from './jobe.ts'
export { toggle } from './setting.ts'
export { limitSpellings, spellLimits, usualRun } from './limits.ts'
export type { Limits, PhaseLimits } from './limits.ts'
export { findNearestLanguage } from './nearest.ts'
export { python } from './python.ts'
export { refuseVariable } from './variable.ts'
