// Checks that the kernel and the keeper accept a request's arguments, variables and file names. Without this check their
// refusal would look like a failure of the box.
import type { PhaseRequest } from './boxes.ts'
import { SandboxError } from './outcome.ts'

/** Equal to `argument_bytes_most` (each word counts with its NUL) and `strings_most` of keeper.h. */
export const wordsBytesMost = 64 * 1024
export const wordsMost = 1024
/** Equal to `name_bytes_most` of keeper.h. */
export const nameBytesMost = 255

/** Steps of the failures that a request itself causes. Another attempt, or another host, would fail in the same way. */
export const stepsOfRequest = { words: 'request.words', name: 'request.name' } as const

/**
 * Checks a request before anything is started.
 * @param variables the variables of every program.
 * @throws {SandboxError} step `request.words` or `request.name`.
 */
export function requireStartable(
  { command: { argv, files, environment = {} }, outputFiles = [] }: PhaseRequest,
  variables: Readonly<Record<string, string>>,
): void {
  const pairs = Object.entries({ ...variables, ...environment })
  requireWords(argv, [...argv, ...pairs.map(([name, value]) => `${name}=${value}`)])
  const names = [...files.map(({ path }) => path.replace(/^\/box\//, '')), ...outputFiles]
  if (!names.every(isFileName))
    throw new SandboxError(stepsOfRequest.name, 'a file has a name that no box can hold')
}

function requireWords([program = '']: readonly string[], words: readonly string[]): void {
  const refuse = (why: string): never => {
    throw new SandboxError(stepsOfRequest.words, why)
  }
  if (program === '') refuse('the command names no program')
  if (words.length > wordsMost) refuse(`the command has more than ${wordsMost} words`)
  if (words.some((word) => word.includes('\0'))) refuse('a word of the command contains NUL')
  const bytes = words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0)
  if (bytes > wordsBytesMost) refuse(`the command is larger than ${wordsBytesMost} bytes`)
}

/** True for a name that a file in a box may have: a relative path without empty parts, `.` and `..`. */
export function isFileName(name: string): boolean {
  const isInside = name.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  return isInside && !name.includes('\0') && Buffer.byteLength(name) <= nameBytesMost
}
