// Whether a request's words and names can be handed to a kernel and a keeper, asked before they are: what they refuse would look
// like a failure of the box.
import type { PhaseRequest } from './boxes.ts'
import { SandboxError } from './outcome.ts'

/** As in keeper.h: `argument_bytes_most`, with each word's end, and `strings_most`. */
export const wordsBytesMost = 64 * 1024
export const wordsMost = 1024
/** `name_bytes_most`. */
export const nameBytesMost = 255

/** Steps of failures that are a request's own: another attempt, or another host, would fail alike. */
export const stepsOfRequest = { words: 'request.words', name: 'request.name' } as const

/**
 * @param variables that every program finds.
 * @throws {SandboxError} step `request.words` or `request.name`: nothing was begun.
 */
export function requireStartable(
  { command: { argv, files, environment = {} }, outputFiles = [] }: PhaseRequest,
  variables: Readonly<Record<string, string>>,
): void {
  const pairs = Object.entries({ ...variables, ...environment })
  requireWords(argv, [...argv, ...pairs.map(([name, value]) => `${name}=${value}`)])
  for (const name of [...files.map(({ path }) => path.replace(/^\/box\//, '')), ...outputFiles])
    requireName(name)
}

function requireWords([program = '']: readonly string[], words: readonly string[]): void {
  const refuse = (why: string): never => {
    throw new SandboxError(stepsOfRequest.words, why)
  }
  if (program === '') refuse('the command names no program')
  if (words.length > wordsMost) refuse(`the command has more than ${wordsMost} words`)
  if (words.some((word) => word.includes('\0'))) refuse('a word of the command holds NUL')
  const bytes = words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0)
  if (bytes > wordsBytesMost) refuse(`the command is larger than ${wordsBytesMost} bytes`)
}

/** Of a file in a box: a relative path none of whose parts is empty, `.` or `..`. */
export function isFileName(name: string): boolean {
  const isInside = name.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  return isInside && !name.includes('\0') && Buffer.byteLength(name) <= nameBytesMost
}

function requireName(name: string): void {
  if (isFileName(name)) return
  throw new SandboxError(stepsOfRequest.name, 'a file has a name that no box can hold')
}
