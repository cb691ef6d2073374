// What is wrong with the details of a submission that are each right by themselves, and fields that nobody knows.
import type { TierLimits } from '#account'
import type { Issue } from '#error'
import { catalogue, defaultLimits, limitSpellings } from '#language'
import type { Language, LanguageDefinition, PhaseLimits } from '#language'
import { judgeNaming } from './blob-field.ts'
import {
  checker,
  fileEntries,
  filesMost,
  spellings,
  testEntries,
  testsMost,
} from './detail-field.ts'
import type { Given, GivenChecker, GivenFile, LimitName } from './detail-field.ts'
import { judgeNames } from './file-name.ts'
import { judgeOutputFiles } from './output-files.ts'
import { byteLength, decode } from './text.ts'

const filesBytesMost = 1024 * 1024
const testsBytesMost = 1024 * 1024

/** Names of nested fields that nobody knows. */
export function* findUnknown(input: Readonly<Record<string, unknown>>): Generator<string> {
  for (const name of ['limits', 'compile_limits']) {
    for (const key of listKeys(input[name]))
      if (!Object.hasOwn(spellings, key)) yield `${name}.${key}`
  }
  for (const key of listKeys(input['checker']))
    if (!Object.hasOwn(checker.entries, key)) yield `checker.${key}`
  yield* findUnknownOfEach('files', input['files'], filesMost, fileEntries)
  const { files } = Object(input['checker']) as { files?: unknown }
  yield* findUnknownOfEach('checker.files', files, filesMost, fileEntries)
  yield* findUnknownOfEach('tests', input['tests'], testsMost, testEntries)
}

function* findUnknownOfEach(
  name: string,
  list: unknown,
  most: number,
  known: object,
): Generator<string> {
  if (!Array.isArray(list)) return
  for (const [index, one] of list.slice(0, most).entries()) {
    for (const key of listKeys(one)) if (!Object.hasOwn(known, key)) yield `${name}.${index}.${key}`
  }
}

function listKeys(value: unknown): string[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.keys(value)
    : []
}

/**
 * What is wrong with fields that are each right by themselves.
 * @param language undefined: none, or not one of ours.
 * @param has whether a field is there, also one that is wrong by itself.
 */
export function* judgeDetail(
  language: Language | undefined,
  given: Given,
  allowed: TierLimits,
  has: Has,
): Generator<Issue> {
  yield* judgeFiles('files', listOwnFiles(language), given.files ?? [])
  yield* judgeOutputFiles(
    given.output_files ?? [],
    listOwnFiles(language),
    (given.files ?? []).map(({ name }) => name),
  )
  yield* judgeNaming('', given)
  yield* judgeTests(given, has)
  yield* judgeChecker(given, has)
  if (language === undefined) return
  const { compile, run } = defaultLimits[language]
  yield* judgeLimits('limits', given.limits ?? {}, run, allowed)
  if (compile !== null) {
    yield* judgeLimits('compile_limits', given.compile_limits ?? {}, compile, allowed)
    return
  }
  for (const path of ['compile_args', 'compile_limits'] as const) {
    const value = given[path]
    if (value !== undefined && !(Array.isArray(value) && value.length === 0))
      yield { path, message: `${language} has no compiler` }
  }
}

type Has = (name: keyof Given) => boolean

/** What a submission with tests has in each of them. */
const ofEachTest = [
  'stdin',
  'expected_stdout',
  'stdin_sha256',
  'expected_stdout_sha256',
  'output_files',
] as const

function* judgeTests({ tests, stdin_encoding: encoded }: Given, has: Has): Generator<Issue> {
  if (!has('tests')) {
    if (has('stop_on_failure')) yield { path: 'stop_on_failure', message: 'needs tests' }
    return
  }
  for (const path of ofEachTest)
    if (has(path)) yield { path, message: 'cannot be combined with tests' }
  if (tests === undefined) return
  let bytes = 0
  for (const [index, one] of tests.entries()) {
    const decoded = decode(one.stdin ?? '', encoded)
    yield* judgeNaming(`tests.${index}.`, one)
    if (decoded === null) yield { path: `tests.${index}.stdin`, message: 'is not base64' }
    bytes += (decoded?.byteLength ?? 0) + byteLength(one.expected_stdout ?? '')
  }
  if (bytes > testsBytesMost)
    yield { path: 'tests', message: `is larger than ${testsBytesMost} bytes in all` }
}

function* judgeChecker({ checker: chosen }: Given, has: Has): Generator<Issue> {
  if (chosen === undefined) return
  if (!has('tests') && !has('expected_stdout') && !has('expected_stdout_sha256'))
    yield { path: 'checker', message: 'needs tests, or expected_stdout' }
  yield* chosen.type === 'program' ? judgeProgram(chosen, has('tests')) : []
  const { type, absolute, relative } = chosen
  if (type === 'floats' && absolute === undefined && relative === undefined)
    yield { path: 'checker', message: 'needs absolute or relative' }
  for (const name of ['absolute', 'relative', ...programFields] as const) {
    const isFor = programFields.some((field) => field === name) ? 'program' : 'floats'
    if (chosen[name] !== undefined && type !== isFor)
      yield { path: `checker.${name}`, message: `is only for the type ${isFor}` }
  }
}

const programFields = ['language', 'code', 'compile_args', 'files'] as const

function* judgeProgram(
  { language, code, compile_args: words_, files = [] }: GivenChecker,
  hasTests: boolean,
): Generator<Issue> {
  if (!hasTests) yield { path: 'checker', message: 'needs tests if it is a program' }
  for (const [name, value] of Object.entries({ language, code }))
    if (value === undefined) yield { path: `checker.${name}`, message: 'is required' }
  if (
    (words_ ?? []).length > 0 &&
    language !== undefined &&
    defaultLimits[language].compile === null
  )
    yield { path: 'checker.compile_args', message: `${language} has no compiler` }
  yield* judgeFiles('checker.files', [...listOwnFiles(language), ...checkerFiles], files)
}

/** What a checker finds. */
const checkerFiles = ['input', 'output', 'answer']

/** Each that is more than the language's own and the tier's. */
export function* judgeLimits(
  path: string,
  given: Readonly<Partial<Record<LimitName, number | undefined>>>,
  usual: PhaseLimits,
  allowed: TierLimits,
): Generator<Issue> {
  for (const [name, value] of Object.entries(given) as [LimitName, number | undefined][]) {
    const limit = spellings[name]
    const most = Math.max(usual[limit], allowed[limitSpellings[limit]] ?? 0)
    if (value !== undefined && value > most)
      yield { path: `${path}.${name}`, message: `is more than this key’s tier allows: ${most}` }
  }
}

function* judgeFiles(
  at: string,
  own: readonly string[],
  files: readonly GivenFile[],
): Generator<Issue> {
  let bytes = 0
  for (const [index, { content, encoding: encoded }] of files.entries()) {
    const decoded = decode(content, encoded)
    if (decoded === null) yield { path: `${at}.${index}.content`, message: 'is not base64' }
    bytes += decoded?.byteLength ?? 0
  }
  if (bytes > filesBytesMost)
    yield { path: at, message: `is larger than ${filesBytesMost} bytes in all` }
  yield* judgeNames(
    at,
    own,
    files.map(({ name }) => name),
    '.name',
  )
}

/** What stands in the box under names of the language's own. */
function listOwnFiles(language: Language | undefined): readonly string[] {
  if (language === undefined) return []
  const { recipe, ownFiles = [] }: LanguageDefinition = catalogue[language]
  return recipe === undefined
    ? ownFiles
    : [recipe.source, ...(recipe.compile === null ? [] : [recipe.compile.makes])]
}
