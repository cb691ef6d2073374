// Defines options of commands in a line each, and reads their values.
import { readFileSync } from 'node:fs'
import { CommandError, exitStatuses, misuse } from './command.ts'
import type { Option } from './command.ts'

type More = Omit<Option, 'type' | 'value' | 'help'>

/** Defines an option with a value. @param value the placeholder in help. */
export function takes<const M extends More = object>(
  value: string,
  help: string,
  more?: M,
): { readonly type: 'string'; readonly value: string; readonly help: string } & M {
  return { type: 'string', value, help, ...(more ?? ({} as M)) }
}

/** Defines an option without a value. @param preset true: the option is spelled `--no-…`. */
export function flag(
  help: string,
  preset = false,
): { readonly type: 'boolean'; readonly help: string; readonly default: boolean } {
  return { type: 'boolean', help, default: preset }
}

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
