// Reads the values of options and operands: numbers, words, times, files, and ids.
import { readFileSync } from 'node:fs'
import { CommandError, exitStatuses, misuse } from './command.ts'

/** Reads a whole number from 1 to `most`. @param or other allowed values, for the error message. @throws {CommandError} */
export function readNumber(option: string, text: string, most: number, or = ''): number {
  const number = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : Number.NaN
  if (number <= most) return number
  throw misuse(`${option} must be a number from 1 to ${most}${or}`)
}

/** Reads one of some words. @throws {CommandError} */
export function readWord(option: string, text: string, words: readonly string[]): string {
  if (words.includes(text)) return text
  throw misuse(`${option} must be one of ${words.join(', ')}`)
}

/** Reads a date or a time in ISO 8601. @returns the time in UTC. @throws {CommandError} */
export function readTime(option: string, text: string): string {
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
  const time = new Date(isTime ? text : Number.NaN)
  if (Number.isNaN(time.getTime()))
    throw misuse(
      `${option} must be a date such as 2030-01-31, or a time such as 2030-01-31T12:00:00Z`,
    )
  return time.toISOString()
}

/** Reads the file that an option or an operand names. @throws {CommandError} */
export function readInput(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandError(`${name}: ${(error as Error).message}`, exitStatuses.noInput)
  }
}

/**
 * Finds the id that begins or ends with `part`. Ids of one day begin alike.
 * @throws {CommandError} when `part` fits no id, or several.
 */
export function findId(
  rows: readonly { readonly id: string }[],
  part: string,
  noun: string,
): string {
  if (!/^[0-9a-f-]{1,36}$/i.test(part))
    throw misuse(`${JSON.stringify(part)} is not the id of a ${noun}, nor its beginning or end`)
  const found = rows.map(({ id }) => id).filter((id) => isPart(part, id))
  const [only] = found
  if (only === undefined) throw new CommandError(`there is no such ${noun}`)
  if (found.length > 1)
    throw new CommandError(`${part} is part of ${found.length} ids: ${found.join(', ')}`)
  return only
}

/** Whether an id begins or ends with this text. */
export function isPart(text: string, id: string): boolean {
  const wanted = text.toLowerCase()
  return id.startsWith(wanted) || id.endsWith(wanted)
}
