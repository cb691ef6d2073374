// The fields of a submission beyond code, input and webhook, each by itself. What holds between them stands in judge-detail.ts.
import * as v from 'valibot'
import type { PhaseLimits } from '#language'
import { blobEntries } from './blob-field.ts'
import { fileName } from './file-name.ts'
import { languageSchema } from './language-name.ts'
import { outputFilesSchema } from './output-files.ts'
import { byteLength, wellFormedText, wellFormedTextWithoutNul } from './text.ts'

const wordsMost = 64
const wordsBytesMost = 16 * 1024
export const filesMost = 64
const tagBytesMost = 128
export const testsMost = 200
const codeBytesMost = 65_536
const testNameBytesMost = 128

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
        const [issue] = v.safeParse(wellFormedTextWithoutNul, value).issues ?? []
        if (issue === undefined || told === wordsToldMost) continue
        told += 1
        addIssue({
          message: issue.message,
          path: [{ type: 'array', origin: 'value', input, key, value }],
        })
      }
    }),
    v.transform((list) => list as string[]),
    v.check(
      (list) => list.reduce((sum, word) => sum + byteLength(word), 0) <= wordsBytesMost,
      `is larger than ${wordsBytesMost} bytes of UTF-8 in all`,
    ),
    v.metadata({ description, maxItems: wordsMost, items: { type: 'string' } }),
  )

const encoding = v.picklist(['utf8', 'base64'], 'must be utf8 or base64')

export const fileEntries = {
  name: fileName,
  content: wellFormedText,
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

const finite = v.pipe(v.number('must be a number'), v.finite('must be a number'))
const whole = v.pipe(v.number('must be a number'), v.integer('must be a whole number'))
const atLeast = (minimum: number, kind: typeof finite | typeof whole, description: string) =>
  v.optional(
    v.pipe(kind, v.minValue(minimum, `must be at least ${minimum}`), v.description(description)),
  )

const limits = (whose: string) =>
  v.pipe(
    v.unknown(),
    plainObject,
    v.object({
      cpu_time: atLeast(least.seconds, finite, 'Seconds, user + system of all its processes.'),
      wall_time: atLeast(least.seconds, finite, 'Seconds from its start to its end.'),
      memory: atLeast(least.memory, whole, 'Bytes.'),
      stdout: atLeast(1, whole, 'Bytes.'),
      stderr: atLeast(1, whole, 'Bytes.'),
      disk: atLeast(least.disk, whole, 'Bytes of scratch disk.'),
      processes: atLeast(1, whole, 'Processes and threads at once.'),
    }),
    v.description(
      `${whose} Each at most what the key's tier allows, or what the language has by default; what is left out is the language's default.`,
    ),
  )

/** Of the caller's own, to find it again. */
export const tagSchema = v.pipe(
  wellFormedTextWithoutNul,
  v.check((value) => value !== '', 'must not be empty'),
  v.check((value) => byteLength(value) <= tagBytesMost, `is larger than ${tagBytesMost} bytes`),
  v.metadata({
    description: 'The caller’s own word for it: in the record, and a filter of lists.',
    maxLength: tagBytesMost,
  }),
)

const checkerTypes = ['lines', 'exact', 'tokens', 'unordered_lines', 'floats', 'program'] as const
export const checker = v.object({
  type: v.picklist(checkerTypes, `must be one of ${checkerTypes.join(', ')}`),
  absolute: atLeast(0, finite, 'Of floats: numbers so far apart are the same.'),
  relative: atLeast(0, finite, 'Of floats: or so far, as a part of what is expected.'),
  language: v.optional(v.pipe(languageSchema, v.description('Of a program.'))),
  code: v.optional(
    v.pipe(
      wellFormedText,
      v.check((code) => byteLength(code) <= codeBytesMost, `is larger than ${codeBytesMost} bytes`),
      v.description(
        'Of a program: it is run as `checker input output answer` in a box of its own. Exit status 0 is AC, 1 and 2 WA, all else IE; 1 KiB of its stderr is the test’s message.',
      ),
    ),
  ),
  compile_args: v.optional(words('Of a program.')),
  files: v.optional(fileList('Of a program: they lie beside its code, such as testlib.h.')),
})

export const testEntries = {
  name: v.optional(
    v.pipe(
      wellFormedTextWithoutNul,
      v.check(
        (name) => byteLength(name) <= testNameBytesMost,
        `is larger than ${testNameBytesMost} bytes`,
      ),
    ),
  ),
  stdin: v.optional(wellFormedText),
  expected_stdout: v.optional(wellFormedText),
  ...blobEntries,
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
          'The program is compiled once and run once for each, in a fresh box under its own limits. Their texts are 1 MiB in all, longer ones are blobs: 64 MiB in all, each naming counted. Not together with stdin or expected_stdout.',
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
  output_files: v.optional(outputFilesSchema),
  priority: v.optional(
    v.pipe(
      v.picklist(['normal', 'low'], 'must be normal or low'),
      v.description('low: it waits until no normal one does, those of its account first of all.'),
    ),
  ),
  tag: v.optional(tagSchema),
  ...blobEntries,
} as const

export type Given = v.InferOutput<ReturnType<typeof makeObject>> & {
  readonly stdin?: string | undefined
  readonly expected_stdout?: string | undefined
}
const makeObject = () => v.object(detailEntries)

export type GivenFile = v.InferOutput<typeof file>
export type GivenTest = v.InferOutput<typeof test>
export type GivenChecker = v.InferOutput<typeof checker>

/** Each as the executor calls it. */
export const spellings = {
  cpu_time: 'cpuSeconds',
  wall_time: 'wallSeconds',
  memory: 'memoryBytes',
  stdout: 'stdoutBytes',
  stderr: 'stderrBytes',
  disk: 'diskBytes',
  processes: 'processes',
} as const satisfies Record<string, keyof PhaseLimits>

export type LimitName = keyof typeof spellings
