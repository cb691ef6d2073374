// The entry to a submission's options: everything but its code, input and webhook. A field keeps its name from the request to
// the run. The schema of requests (schema.ts) is its type, and the request's own JSON is stored for the worker (stored.ts).
export { few, fields, messages, shorten, validate } from './fields.ts'
export type { Checked } from './fields.ts'
export { decodeFiles, judgeNames } from './file.ts'
export { optionEntries } from './schema.ts'
export type { CheckerOption, GroupOption, InteractorOption, Options, TestOption } from './schema.ts'
export { limitNames, toPhaseLimits } from './limits.ts'
export type { LimitName } from './limits.ts'
export { capabilities, decodeOptions, encodeOptions, listRequired } from './stored.ts'
export { byteLength, decode, fits, isNotEmpty, wellFormedText } from './text.ts'
export { languageSchema, tagSchema, unknownLanguage, wellFormedTextWithoutNul } from './text.ts'
