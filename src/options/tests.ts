// The tests of a submission: inputs and expected outputs, points, groups, and what judges them, a checker or an interactor. Either
// each test has points, or groups of tests have points that are given when all tests of the group pass.
import * as v from 'valibot'
import { described } from '#schema'
import { atLeast, fields, finite, list, strict } from './fields.ts'
import { blobNames, files } from './file.ts'
import { fits, isNotEmpty, languageSchema, wellFormedText, words } from './text.ts'
import { wellFormedTextWithoutNul } from './text.ts'

const codeBytesMost = 65_536
const testNameBytesMost = 128
const pointsMost = 1_000_000
const groupsMost = 50
const groupNameBytesMost = 64

const points = v.pipe(
  v.number('must be a number'),
  v.minValue(0, 'must be at least 0'),
  v.maxValue(pointsMost, `must be at most ${pointsMost}`),
)

const groupName = v.pipe(
  wellFormedTextWithoutNul,
  isNotEmpty,
  fits(groupNameBytesMost),
  v.metadata({ maxLength: groupNameBytesMost }),
)

/** The schema of a test. */
export const test = fields(
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
    points: v.optional(
      described(
        points,
        'The points for passing the test; the record has the sum as score. Not together with groups.',
      ),
    ),
    group: v.optional(
      described(
        groupName,
        'The name of the group to which the test belongs; it must be in groups.',
      ),
    ),
  },
  'a test',
)

const group = fields(
  {
    name: groupName,
    points: described(points, 'The group’s points, given when all of its tests pass.'),
    require_pass: v.optional(
      described(
        list(groupName, 'names', groupsMost),
        'Names of earlier groups. Unless all of them have passed, the tests of this group are not run and it gets no points.',
      ),
    ),
  },
  'a group',
)

/** The schema of the groups of tests. */
export const groupsSchema = v.pipe(
  list(group, 'groups', groupsMost),
  v.minLength(1, 'holds no group'),
  v.description(
    'Groups of tests, each with its points. With stop_on_failure the tests of a group after the first one that is not AC are not run; the tests of other groups are. Tests without a group have no points.',
  ),
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

/** The schema of a checker. */
export const checker = v.pipe(
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

/** The schema of an interactor. */
export const interactor = described(
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
