// `output_files` of a submission: names of files that come back as `files` of the record.
import * as v from 'valibot'
import type { Issue } from '#error'
import { fileName, judgeNames } from './file-name.ts'

const outputFilesMost = 16

export const outputFilesSchema = v.pipe(
  v.array(v.unknown(), 'must be an array of names'),
  v.maxLength(outputFilesMost, `holds more than ${outputFilesMost} names`),
  v.array(fileName),
  v.metadata({
    description:
      'What the program has left under these names when it ends, however it does, comes back as files of the record. 1 MiB in all: of a file that no longer fits the size alone. Not together with tests.',
    maxItems: outputFilesMost,
  }),
)

/** @param own names of the language's files. @param given of the request's `files`. */
export function* judgeOutputFiles(
  names: readonly string[],
  own: readonly string[],
  given: readonly string[],
): Generator<Issue> {
  yield* judgeNames('output_files', own, names)
  for (const [index, name] of names.entries()) {
    if (given.some((one) => one.toLowerCase() === name.toLowerCase()))
      yield {
        path: `output_files.${index}`,
        message: 'is one of files, which no program can write',
      }
  }
}
