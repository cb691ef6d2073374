// Names of a submission's additional files.
import * as v from 'valibot'
import type { Issue } from '#error'

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
