// The fields of a submission beyond code, input and webhook: schemas, and what holds between them. Every problem is listed.
import * as v from 'valibot'
import type { TierLimits } from '#account'
import type { Detail, DetailFile, OwnLimits, Test } from '#enqueue'
import type { Issue } from '#error'
import { catalogue, defaultLimits, limitSpellings } from '#language'
import type { Language, LanguageDefinition, PhaseLimits } from '#language'
import { languageSchema } from './language-name.ts'

const wordsMost = 64
const wordsBytesMost = 16 * 1024
const filesMost = 64
const filesBytesMost = 1024 * 1024
const nameBytesMost = 255
const nameDepthMost = 8
const tagBytesMost = 128
const testsMost = 200
const codeBytesMost = 65_536
const testsBytesMost = 1024 * 1024
const testNameBytesMost = 128

const byteLength = (text: string): number => Buffer.byteLength(text, 'utf8')

const text = v.pipe(
  v.string('must be a string'),
  v.check((value) => value.isWellFormed(), 'holds a lone surrogate, which has no UTF-8'),
)
const textWithoutNul = v.pipe(
  text,
  v.check((value) => !value.includes('\0'), 'must not hold a NUL'),
)

const wordsToldMost = 5

/** Few of many that are wrong are told. */
const words = (description: string) =>
  v.pipe(
    v.array(v.unknown(), 'must be an array of strings'),
    v.maxLength(wordsMost, `holds more than ${wordsMost} strings`),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const { value: input } = dataset
      let told = 0
      for (const [key, value] of input.entries()) {
        const message = judgeWord(value)
        if (message === null || told === wordsToldMost) continue
        told += 1
        addIssue({ message, path: [{ type: 'array', origin: 'value', input, key, value }] })
      }
    }),
    v.transform((list) => list as string[]),
    v.check(
      (list) => list.reduce((sum, word) => sum + byteLength(word), 0) <= wordsBytesMost,
      `is larger than ${wordsBytesMost} bytes of UTF-8 in all`,
    ),
    v.metadata({ description, maxItems: wordsMost, items: { type: 'string' } }),
  )

function judgeWord(word: unknown): string | null {
  if (typeof word !== 'string') return 'must be a string'
  if (!word.isWellFormed()) return 'holds a lone surrogate, which has no UTF-8'
  return word.includes('\0') ? 'must not hold a NUL' : null
}

/** A relative path whose parts no shell, no file system and no other language reads otherwise. */
const fileName = v.pipe(
  v.string('must be a string'),
  v.maxLength(nameBytesMost, `is longer than ${nameBytesMost} characters`),
  v.regex(
    /^[\w.-]+(?:\/[\w.-]+)*$/,
    'must be a relative path of parts made of A-Z, a-z, 0-9, ., _ and -',
  ),
  v.check(
    (name) => name.split('/').every((part) => part !== '.' && part !== '..'),
    'must not hold a part . or ..',
  ),
  v.check(
    (name) => name.split('/').length <= nameDepthMost,
    `must not be deeper than ${nameDepthMost} parts`,
  ),
  v.metadata({ maxLength: nameBytesMost }),
)

const encoding = v.picklist(['utf8', 'base64'], 'must be utf8 or base64')

const fileEntries = {
  name: fileName,
  content: text,
  encoding: v.optional(v.pipe(encoding, v.description('utf8 unless given.'))),
}

/** An array is an object, too. */
const plainObject = v.check((value: unknown) => !Array.isArray(value), 'must be an object')
const file = v.pipe(v.unknown(), plainObject, v.object(fileEntries))

const fileList = (description: string) =>
  v.pipe(
    v.array(v.unknown(), 'must be an array of files'),
    v.maxLength(filesMost, `holds more than ${filesMost} files`),
    v.array(file),
    v.metadata({ description, maxItems: filesMost }),
  )

// Less would not hold a box, or any program at all.
const mebibyte = 1024 * 1024
const least = { seconds: 0.001, memory: 16 * mebibyte, disk: mebibyte } as const

const number = (minimum: number, description: string) =>
  v.optional(
    v.pipe(
      v.number('must be a number'),
      v.finite('must be a number'),
      v.minValue(minimum, `must be at least ${minimum}`),
      v.description(description),
    ),
  )
const whole = (minimum: number, description: string) =>
  v.optional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(minimum, `must be at least ${minimum}`),
      v.description(description),
    ),
  )

const limits = (whose: string) =>
  v.pipe(
    v.unknown(),
    plainObject,
    v.object({
      cpu_time: number(least.seconds, 'Seconds, user + system of all its processes.'),
      wall_time: number(least.seconds, 'Seconds from its start to its end.'),
      memory: whole(least.memory, 'Bytes.'),
      stdout: whole(1, 'Bytes.'),
      stderr: whole(1, 'Bytes.'),
      disk: whole(least.disk, 'Bytes of scratch disk.'),
      processes: whole(1, 'Processes and threads at once.'),
    }),
    v.description(
      `${whose} Each at most what the key's tier allows, or what the language has by default; what is left out is the language's default.`,
    ),
  )

/** Of the caller's own, to find it again. */
export const tagSchema = v.pipe(
  textWithoutNul,
  v.check((value) => value !== '', 'must not be empty'),
  v.check((value) => byteLength(value) <= tagBytesMost, `is larger than ${tagBytesMost} bytes`),
  v.metadata({
    description: 'The caller’s own word for it: in the record, and a filter of lists.',
    maxLength: tagBytesMost,
  }),
)

const checkerTypes = ['lines', 'exact', 'tokens', 'unordered_lines', 'floats', 'program'] as const
const tolerance = v.optional(
  v.pipe(
    v.number('must be a number'),
    v.finite('must be a number'),
    v.minValue(0, 'must be at least 0'),
  ),
)
const checker = v.object({
  type: v.picklist(checkerTypes, `must be one of ${checkerTypes.join(', ')}`),
  absolute: v.pipe(tolerance, v.description('Of floats: numbers so far apart are the same.')),
  relative: v.pipe(
    tolerance,
    v.description('Of floats: or so far, as a part of what is expected.'),
  ),
  language: v.optional(v.pipe(languageSchema, v.description('Of a program.'))),
  code: v.optional(
    v.pipe(
      text,
      v.check((code) => byteLength(code) <= codeBytesMost, `is larger than ${codeBytesMost} bytes`),
      v.description(
        'Of a program: it is run as `checker input output answer` in a box of its own. Exit status 0 is AC, 1 and 2 WA, all else IE; 1 KiB of its stderr is the test’s message.',
      ),
    ),
  ),
  compile_args: v.optional(words('Of a program.')),
  files: v.optional(fileList('Of a program: they lie beside its code, such as testlib.h.')),
})

const testEntries = {
  name: v.optional(
    v.pipe(
      textWithoutNul,
      v.check(
        (name) => byteLength(name) <= testNameBytesMost,
        `is larger than ${testNameBytesMost} bytes`,
      ),
    ),
  ),
  stdin: v.optional(text),
  expected_stdout: v.optional(text),
  args: v.optional(words("In place of the submission's.")),
}
const test = v.pipe(v.unknown(), plainObject, v.object(testEntries))

/** All are optional. */
export const detailEntries = {
  files: v.optional(
    fileList(
      'They lie beside the main file, when it is compiled and when it runs; those in the language itself are compiled with it. 1 MiB in all, decoded.',
    ),
  ),
  args: v.optional(words("The program's arguments. 16 KiB in all.")),
  compile_args: v.optional(words("Appended to the compiler's own. 16 KiB in all.")),
  limits: v.optional(limits("The run's.")),
  compile_limits: v.optional(limits("The compiler's.")),
  tests: v.optional(
    v.pipe(
      v.array(v.unknown(), 'must be an array of tests'),
      v.minLength(1, 'holds no test'),
      v.maxLength(testsMost, `holds more than ${testsMost} tests`),
      v.array(test),
      v.metadata({
        description:
          'The program is compiled once and run once for each, in a fresh box under its own limits. Their texts are 1 MiB in all. Not together with stdin or expected_stdout.',
        minItems: 1,
        maxItems: testsMost,
      }),
    ),
  ),
  stop_on_failure: v.optional(
    v.pipe(
      v.boolean('must be true or false'),
      v.description('The tests after the first that is not AC are not run; false unless given.'),
    ),
  ),
  checker: v.optional(
    v.pipe(
      v.unknown(),
      plainObject,
      checker,
      v.description('How outputs are held against the expected ones; lines unless given.'),
    ),
  ),
  stdin_encoding: v.optional(
    v.pipe(encoding, v.description('How stdin is given, the tests’ too; utf8 unless given.')),
  ),
  output_encoding: v.optional(
    v.pipe(
      encoding,
      v.description(
        'How stdout and stderr are told; utf8 unless given, where what is no UTF-8 becomes U+FFFD.',
      ),
    ),
  ),
  tag: v.optional(tagSchema),
} as const

type Given = v.InferOutput<ReturnType<typeof makeObject>> & {
  readonly stdin?: string | undefined
  readonly expected_stdout?: string | undefined
}
const makeObject = () => v.object(detailEntries)

const spellings = {
  cpu_time: 'cpuSeconds',
  wall_time: 'wallSeconds',
  memory: 'memoryBytes',
  stdout: 'stdoutBytes',
  stderr: 'stderrBytes',
  disk: 'diskBytes',
  processes: 'processes',
} as const satisfies Record<string, keyof PhaseLimits>

type LimitName = keyof typeof spellings

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
 */
export function* judgeDetail(
  language: Language | undefined,
  given: Given,
  allowed: TierLimits,
): Generator<Issue> {
  yield* judgeFiles('files', listOwnFiles(language), given.files ?? [])
  yield* judgeTests(given)
  yield* judgeChecker(given)
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

function* judgeTests({
  tests,
  stdin,
  expected_stdout: expected,
  ...given
}: Given): Generator<Issue> {
  if (tests === undefined) {
    if (given.stop_on_failure !== undefined)
      yield { path: 'stop_on_failure', message: 'is for tests alone' }
    return
  }
  for (const [path, value] of Object.entries({ stdin, expected_stdout: expected })) {
    if (value !== undefined) yield { path, message: 'cannot be given beside tests' }
  }
  let bytes = 0
  for (const [index, one] of tests.entries()) {
    const decoded = decode(one.stdin ?? '', given.stdin_encoding)
    if (decoded === null) yield { path: `tests.${index}.stdin`, message: 'is not base64' }
    bytes += (decoded?.byteLength ?? 0) + byteLength(one.expected_stdout ?? '')
  }
  if (bytes > testsBytesMost)
    yield { path: 'tests', message: `is larger than ${testsBytesMost} bytes in all` }
}

function* judgeChecker({
  checker: chosen,
  tests,
  expected_stdout: expected,
}: Given): Generator<Issue> {
  if (chosen === undefined) return
  if (tests === undefined && expected === undefined)
    yield { path: 'checker', message: 'needs tests, or expected_stdout' }
  yield* chosen.type === 'program' ? judgeProgram(chosen, tests) : []
  const { type, absolute, relative } = chosen
  if (type === 'floats' && absolute === undefined && relative === undefined)
    yield { path: 'checker', message: 'needs absolute or relative' }
  for (const name of ['absolute', 'relative', ...programFields] as const) {
    const isFor = programFields.some((field) => field === name) ? 'program' : 'floats'
    if (chosen[name] !== undefined && type !== isFor)
      yield { path: `checker.${name}`, message: `is for ${isFor} alone` }
  }
}

const programFields = ['language', 'code', 'compile_args', 'files'] as const

function* judgeProgram(
  { language, code, compile_args: words_, files = [] }: v.InferOutput<typeof checker>,
  tests: unknown,
): Generator<Issue> {
  if (tests === undefined) yield { path: 'checker', message: 'judges tests alone' }
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

function* judgeLimits(
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
  files: readonly v.InferOutput<typeof file>[],
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
  )
}

/** Names that a file system, here or elsewhere, could take for one another. */
function* judgeNames(
  at: string,
  own: readonly string[],
  names: readonly string[],
): Generator<Issue> {
  const taken = new Set(own.map((name) => name.toLowerCase()))
  const directories = new Set<string>()
  for (const [index, name] of names.entries()) {
    const path = `${at}.${index}.name`
    const folded = name.toLowerCase()
    const above = listDirectories(folded)
    if (own.some((one) => one.toLowerCase() === folded))
      yield { path, message: 'is the name of a file that the language makes itself' }
    else if (taken.has(folded)) yield { path, message: 'is the name of another file' }
    else if (directories.has(folded) || above.some((directory) => taken.has(directory)))
      yield { path, message: 'is a directory of another file’s name, or the other way round' }
    taken.add(folded)
    for (const directory of above) directories.add(directory)
  }
}

/** Of `a/b/c`: `a` and `a/b`. */
function listDirectories(name: string): string[] {
  const parts = name.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** What stands in the box under names of the language's own. */
function listOwnFiles(language: Language | undefined): readonly string[] {
  if (language === undefined) return []
  const { recipe, ownFiles = [] }: LanguageDefinition = catalogue[language]
  return recipe === undefined
    ? ownFiles
    : [recipe.source, ...(recipe.compile === null ? [] : [recipe.compile.makes])]
}

/** Null when it is not base64. */
export function decode(content: string, encoded: 'utf8' | 'base64' | undefined): Buffer | null {
  if (encoded !== 'base64') return Buffer.from(content)
  const bytes = Buffer.from(content, 'base64')
  return bytes.toString('base64') === content ? bytes : null
}

/** What was asked, of fields that have been judged. */
export function readDetail(given: Given): Detail {
  const files = given.files?.map(readFile)
  const own: OwnLimits = {
    ...(given.compile_limits && { compile: readLimits(given.compile_limits) }),
    ...(given.limits && { run: readLimits(given.limits) }),
  }
  return {
    ...(given.args && given.args.length > 0 && { arguments: given.args }),
    ...(given.compile_args &&
      given.compile_args.length > 0 && { compileArguments: given.compile_args }),
    ...(files && files.length > 0 && { files }),
    ...(Object.keys(own).length > 0 && { limits: own }),
    ...(given.tests && { tests: given.tests.map((one) => readTest(one, given.stdin_encoding)) }),
    ...(given.stop_on_failure === true && { stopOnFailure: true }),
    ...(given.checker && { checker: readChecker(given.checker) }),
  }
}

function readTest(
  { name, stdin, expected_stdout: expected, args }: v.InferOutput<typeof test>,
  encoded: 'utf8' | 'base64' | undefined,
): Test {
  return {
    ...(name !== undefined && { name }),
    stdin: decode(stdin ?? '', encoded) ?? Buffer.alloc(0),
    expectedStdout: expected === undefined ? null : Buffer.from(expected),
    ...(args !== undefined && { arguments: args }),
  }
}

function readChecker(given: v.InferOutput<typeof checker>): NonNullable<Detail['checker']> {
  const { type, absolute, relative, language, code = '', compile_args: words_, files } = given
  if (type === 'program' && language !== undefined)
    return {
      type,
      language,
      code: Buffer.from(code),
      ...(words_ !== undefined && { compileArguments: words_ }),
      ...(files !== undefined && { files: files.map(readFile) }),
    }
  if (type !== 'floats') return { type: type === 'program' ? 'lines' : type }
  return {
    type,
    ...(absolute !== undefined && { absolute }),
    ...(relative !== undefined && { relative }),
  }
}

function readFile({ name, content, encoding: encoded }: v.InferOutput<typeof file>): DetailFile {
  return { name, content: decode(content, encoded) ?? Buffer.alloc(0) }
}

function readLimits(
  given: Readonly<Partial<Record<LimitName, number | undefined>>>,
): Partial<PhaseLimits> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [spellings[name as LimitName], value]),
  )
}
