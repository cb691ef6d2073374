// A submission's additional files, and the blobs that it names in place of texts.
import * as v from 'valibot'
import { isBlobName } from '#blob'
import type { Issue } from '#error'
import { described } from '#schema'
import { fields, list } from './fields.ts'
import type { Options } from './schema.ts'
import { decode, encoding, wellFormedText } from './text.ts'

const filesMost = 64
const filesBytesMost = 1024 * 1024
const nameBytesMost = 255
const nameDepthMost = 8

/** The schema of a relative path whose parts mean the same to every shell, file system and language. */
export const fileName = v.pipe(
  v.string('must be a string'),
  v.maxLength(nameBytesMost, `is longer than ${nameBytesMost} characters`),
  v.regex(
    /^[\w.-]+(?:\/[\w.-]+)*$/,
    'must be a relative path of parts made of A-Z, a-z, 0-9, ., _ and -',
  ),
  v.check(
    (name) => name.split('/').every((part) => part !== '.' && part !== '..'),
    'must not have . or .. as a part',
  ),
  v.check(
    (name) => name.split('/').length <= nameDepthMost,
    `must not be deeper than ${nameDepthMost} parts`,
  ),
  v.metadata({ maxLength: nameBytesMost }),
)

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

/** The schema of additional files. */
export const files = v.pipe(
  list(file, 'files', filesMost),
  v.check(
    (all) =>
      all.reduce((sum, one) => sum + (decode(one.content, one.encoding)?.length ?? 0), 0) <=
      filesBytesMost,
    `is larger than ${filesBytesMost} bytes in all`,
  ),
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

/** The fields of a submission, or of a test, that name blobs. */
export const blobNames = {
  stdin_sha256: v.optional(blobName('stdin')),
  expected_stdout_sha256: v.optional(blobName('expected_stdout')),
} as const

/**
 * Yields an issue for each name that a file system, here or elsewhere, could confuse with another name.
 * @param at the field. @param own names of the language's own files. @param suffix of each name's path in the field.
 */
export function* judgeNames(
  at: string,
  own: readonly string[],
  names: readonly string[],
  suffix = '',
): Generator<Issue> {
  const taken = new Set(own.map((name) => name.toLowerCase()))
  const directories = new Set<string>()
  for (const [index, name] of names.entries()) {
    const path = `${at}.${index}${suffix}`
    const folded = name.toLowerCase()
    const above = listDirectories(folded)
    if (own.some((one) => one.toLowerCase() === folded))
      yield { path, message: 'is the name of a file that the language makes itself' }
    else if (taken.has(folded)) yield { path, message: 'is the name of another file' }
    else if (directories.has(folded) || above.some((directory) => taken.has(directory)))
      yield {
        path,
        message: 'is a directory in another file’s name, or has another file as a directory',
      }
    taken.add(folded)
    for (const directory of above) directories.add(directory)
  }
}

/** Returns the directories above a path: `a` and `a/b` for `a/b/c`. */
function listDirectories(name: string): string[] {
  const parts = name.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** Decodes the files of a request that has passed its checks. */
export function decodeFiles(
  given: NonNullable<Options['files']>,
): { readonly name: string; readonly content: Uint8Array }[] {
  return given.map(({ name, content, encoding: encoded }) => ({
    name,
    content: Buffer.from(content, encoded ?? 'utf8'),
  }))
}
