// The schema of a submission's options, field by field. Rules between fields are in src/http/relations.ts.
import * as v from 'valibot'
import { isBlobName } from '#blob'
import { findNearestLanguage, languagesByName } from '#language'
import type { Language } from '#language'
import { described } from '#schema'
import type { DeepReadonly } from '#schema'
import { environment } from './environment.ts'
import { atLeast, fields, finite, list, strict } from './fields.ts'
import { fileName } from './file-name.ts'
import { limits } from './limits.ts'
import { groupsSchema, testPointEntries } from './points.ts'
import { byteLength, decode, fits, isNotEmpty } from './text.ts'
import { wellFormedText, wellFormedTextWithoutNul } from './text.ts'

const wordsMost = 64
const wordsBytesMost = 16 * 1024
const filesMost = 64
const filesBytesMost = 1024 * 1024
const outputFilesMost = 16
const tagBytesMost = 128
const testsMost = 200
const codeBytesMost = 65_536
const testNameBytesMost = 128

const languageNames = Object.keys(languagesByName)

/** The beginning of the message for a name that no language has. */
export const unknownLanguage = 'must be one of the languages that are offered'

function describeUnknown(name: unknown): string {
  const nearest = typeof name === 'string' ? findNearestLanguage(name) : undefined
  return nearest === undefined ? unknownLanguage : `${unknownLanguage}: did you mean ${nearest}?`
}

/** The schema of a language's name. Turns any accepted name into the canonical one. */
export const languageSchema = v.pipe(
  v.picklist(languageNames, ({ input }) => describeUnknown(input)),
  v.transform((name) => languagesByName[name] as Language),
)

const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0)

const words = v.pipe(
  list(wellFormedTextWithoutNul, 'strings', wordsMost),
  v.check(
    (all) => sum(all.map(byteLength)) <= wordsBytesMost,
    `is larger than ${wordsBytesMost} bytes of UTF-8 in all`,
  ),
)

const encoding = v.picklist(['utf8', 'base64'], 'must be utf8 or base64')

const file = v.pipe(
  fields(
    {
      name: fileName,
      content: wellFormedText,
      encoding: v.optional(described(encoding, 'The default is utf8.')),
    },
    'a file',
  ),
  v.forward(
    v.partialCheck(
      [['content'], ['encoding']],
      ({ content, encoding: encoded }) => decode(content, encoded) !== null,
      'is not base64',
    ),
    ['content'],
  ),
)

const files = v.pipe(
  list(file, 'files', filesMost),
  v.check(
    (all) =>
      sum(all.map(({ content, encoding: encoded }) => decode(content, encoded)?.length ?? 0)) <=
      filesBytesMost,
    `is larger than ${filesBytesMost} bytes in all`,
  ),
)

/** The schema of the caller's tag, by which the caller finds a submission again. */
export const tagSchema = v.pipe(
  wellFormedTextWithoutNul,
  isNotEmpty,
  fits(tagBytesMost),
  v.metadata({
    description:
      'The caller’s own label for the submission. It is in the record, and lists can be filtered by it.',
    maxLength: tagBytesMost,
  }),
)

const simpleCheckers = ['lines', 'exact', 'tokens', 'unordered_lines'] as const
const checkerTypes = [...simpleCheckers, 'floats', 'program']
const ofChecker = 'a checker of this type'

/** The fields of a checker or interactor program. */
const programEntries = (description: string) => ({
  language: languageSchema,
  code: v.pipe(wellFormedText, fits(codeBytesMost), v.description(description)),
  compile_args: v.optional(words),
  files: v.optional(described(files, 'Files beside the program’s code, such as testlib.h.')),
})

const checker = v.pipe(
  v.unknown(),
  v.check((value) => !Array.isArray(value), 'must be an object'),
  v.variant(
    'type',
    [
      strict({ type: v.picklist(simpleCheckers) }, ofChecker),
      v.pipe(
        strict(
          {
            type: v.literal('floats'),
            absolute: atLeast(0, finite, 'Two numbers are equal when they differ by at most this.'),
            relative: atLeast(
              0,
              finite,
              'Two numbers are also equal when they differ by at most this fraction of the expected number.',
            ),
          },
          ofChecker,
        ),
        v.partialCheck(
          [['absolute'], ['relative']],
          ({ absolute, relative }) => absolute !== undefined || relative !== undefined,
          'needs absolute or relative',
        ),
      ),
      strict(
        {
          type: v.literal('program'),
          ...programEntries(
            'The checker’s source code. It runs as `checker input output answer` in a separate box. Exit status 0 is AC, 1 and 2 are WA, any other is IE. 1 KiB of its stderr is the test’s message.',
          ),
        },
        ofChecker,
      ),
    ],
    ({ expected }) =>
      expected === 'Object' ? 'must be an object' : `must be one of ${checkerTypes.join(', ')}`,
  ),
  v.description('How outputs are compared with the expected ones. The default is lines.'),
)

const interactor = described(
  fields(
    {
      type: v.optional(v.literal('program', 'must be program')),
      ...programEntries(
        'The interactor’s source code. It runs as `interactor input output answer` in a separate box. Its stdout is the program’s stdin, and the program’s stdout is its stdin. Exit status 0 is AC, 1 and 2 are WA, any other is IE. 1 KiB of its stderr is the test’s message.',
      ),
    },
    'an interactor',
  ),
  'A program that exchanges input and output with the submitted program in each test, in place of a checker.',
)

const blobName = (instead: string) =>
  v.pipe(
    v.string('must be a string'),
    v.check(isBlobName, 'must be a SHA-256 in hexadecimal, in lower case'),
    v.metadata({
      description: `The SHA-256 of a blob, in place of ${instead}. The account must have uploaded the blob with PUT /api/blobs/{sha256}.`,
      pattern: '^[0-9a-f]{64}$',
    }),
  )

const blobNames = {
  stdin_sha256: v.optional(blobName('stdin')),
  expected_stdout_sha256: v.optional(blobName('expected_stdout')),
} as const

const test = fields(
  {
    name: v.optional(
      v.pipe(
        wellFormedTextWithoutNul,
        fits(testNameBytesMost),
        v.metadata({ maxLength: testNameBytesMost }),
      ),
    ),
    stdin: v.optional(wellFormedText),
    expected_stdout: v.optional(wellFormedText),
    ...blobNames,
    args: v.optional(
      described(words, "The program's arguments in this test, in place of the submission's."),
    ),
    ...testPointEntries,
  },
  'a test',
)

/** The fields of the options. All are optional. */
export const optionEntries = {
  files: v.optional(
    described(
      files,
      'Files beside the main file, at compilation and at the run. Files in the language itself are compiled with the main file. At most 1 MiB in all, decoded.',
    ),
  ),
  args: v.optional(described(words, "The program's arguments. At most 16 KiB in all.")),
  compile_args: v.optional(
    described(words, "Arguments that are appended to the compiler's own. At most 16 KiB in all."),
  ),
  env: v.optional(
    described(
      environment,
      "The program's environment variables, in addition to those that every program has. Compilers and checkers do not get them. At most 16 KiB in all. Variables with which a shell, a loader or a runtime is started, such as PATH, LD_PRELOAD or PYTHONPATH, cannot be set.",
    ),
  ),
  limits: v.optional(limits("The run's limits.")),
  compile_limits: v.optional(limits("The compiler's limits.")),
  tests: v.optional(
    v.pipe(
      list(test, 'tests', testsMost),
      v.minLength(1, 'holds no test'),
      v.description(
        'The program is compiled once and run once for each test, each time in a fresh box under the full limits. The texts of all tests are at most 1 MiB. Longer texts must be blobs, at most 64 MiB in all; a blob counts each time it is named. Not together with stdin or expected_stdout.',
      ),
    ),
  ),
  stop_on_failure: v.optional(
    described(
      v.boolean('must be true or false'),
      'true: the tests after the first one that is not AC are not run. The default is false.',
    ),
  ),
  groups: v.optional(groupsSchema),
  checker: v.optional(checker),
  interactor: v.optional(interactor),
  stdin_encoding: v.optional(
    described(encoding, 'The encoding of stdin, also in tests. The default is utf8.'),
  ),
  output_encoding: v.optional(
    described(
      encoding,
      'The encoding of stdout and stderr in answers. The default is utf8, where bytes that are not UTF-8 become U+FFFD.',
    ),
  ),
  output_files: v.optional(
    described(
      list(fileName, 'names', outputFilesMost),
      'Files that the program has left under these names when it ends, whatever its verdict. They are in files of the record, at most 1 MiB in all; for a file that no longer fits, only the size is. Not together with tests.',
    ),
  ),
  merge_stderr: v.optional(
    described(
      v.boolean('must be true or false'),
      'true: the program’s stderr becomes part of stdout, in the order of writing, and counts against the limit of stdout. The default is false. The stderr of compilers and checkers is not merged.',
    ),
  ),
  network: v.optional(
    described(
      v.picklist(['none', 'loopback'], 'must be none or loopback'),
      'loopback: the program has 127.0.0.1 and ::1, in a network that no other run shares. The default is none. Compilers and checkers have no network.',
    ),
  ),
  priority: v.optional(
    described(
      v.picklist(['normal', 'low'], 'must be normal or low'),
      'low: the submission waits until no normal submission waits, above all none of its account.',
    ),
  ),
  tag: v.optional(tagSchema),
  ...blobNames,
} as const

/** The options that are stored with a submission; the omitted ones are fields of its event. All are optional. */
export type Options = DeepReadonly<
  Omit<v.InferOutput<typeof options>, 'tag' | 'priority' | 'output_encoding'>
>
export type TestOption = NonNullable<Options['tests']>[number]
export type GroupOption = NonNullable<Options['groups']>[number]
export type InteractorOption = NonNullable<Options['interactor']>
export type CheckerOption = NonNullable<Options['checker']>

const options = v.object(optionEntries)
