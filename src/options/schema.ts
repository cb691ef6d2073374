// The schema of a submission's options, field by field. Rules between fields are in src/http/relations.ts.
import * as v from 'valibot'
import { described } from '#schema'
import type { DeepReadonly } from '#schema'
import { list } from './fields.ts'
import { blobNames, fileName, files } from './file.ts'
import { limits } from './limits.ts'
import { checker, groupsSchema, interactor, test } from './tests.ts'
import { encoding, environment, tagSchema, words } from './text.ts'

const outputFilesMost = 16
const testsMost = 200

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
