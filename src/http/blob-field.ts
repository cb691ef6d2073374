// Fields of a submission and of its tests that name blobs in place of a text.
import * as v from 'valibot'
import { isBlobName } from '#blob'
import type { Issue } from '#error'

const blobName = (instead: string) =>
  v.optional(
    v.pipe(
      v.string('must be a string'),
      v.check(isBlobName, 'must be a SHA-256 in hexadecimal, in lower case'),
      v.metadata({
        description: `In place of ${instead}: a blob of the account, uploaded with PUT /api/blobs/{sha256}.`,
        pattern: '^[0-9a-f]{64}$',
      }),
    ),
  )

export const blobEntries = {
  stdin_sha256: blobName('stdin'),
  expected_stdout_sha256: blobName('expected_stdout'),
} as const

/** What may name a blob. */
export type Naming = { readonly [Name in keyof typeof blobEntries]?: string | undefined } & {
  readonly stdin?: string | undefined
  readonly expected_stdout?: string | undefined
}

/** As the queue has them. @param given fields that have been judged. */
export function readBlobNames({
  stdin_sha256: stdinBlob,
  expected_stdout_sha256: expectedStdoutBlob,
}: Naming): { readonly stdinBlob?: string; readonly expectedStdoutBlob?: string } {
  return {
    ...(stdinBlob !== undefined && { stdinBlob }),
    ...(expectedStdoutBlob !== undefined && { expectedStdoutBlob }),
  }
}

/** @param at what the paths begin with, such as `tests.0.`. */
export function* judgeNaming(at: string, given: Naming): Generator<Issue> {
  for (const name of ['stdin', 'expected_stdout'] as const) {
    if (given[name] !== undefined && given[`${name}_sha256`] !== undefined)
      yield { path: `${at}${name}_sha256`, message: `cannot be combined with ${name}` }
  }
}
