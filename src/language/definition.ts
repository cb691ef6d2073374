// What a language says of itself.
import type { GenericSchema } from 'valibot'
import type { Limits } from './limits.ts'

/** A program that a language cannot do without. */
export interface Tool {
  /** Its file's name. */
  readonly program: string
  /** The options by which it tells its version. */
  readonly ask: readonly string[]
  /** What it tells: major version, and minor version if there is one, are the first two groups. */
  readonly pattern: RegExp
  /** The oldest that will do, major and minor. */
  readonly oldest: readonly [number, number]
}

/** One language: data, nothing that looks at a host. */
export interface LanguageDefinition {
  /** Its canonical name: in the log, in records, and in capitals before its limits' variables. */
  readonly name: string
  /** Other names that people type for it. */
  readonly aliases: readonly string[]
  /** How the names of its source files end, the dot included. */
  readonly extensions: readonly string[]
  /** Begins a comment that ends with the line. */
  readonly lineComment: string
  /** The packages of Debian and Ubuntu that it comes in. */
  readonly packages: readonly string[]
  /** What must be installed. */
  readonly tools: readonly Tool[]
  /** Variables of its own in the worker's environment, beside those of its limits; each may be left out. */
  readonly settings: Readonly<Record<string, GenericSchema>>
  /** The limits that hold when an operator sets none. */
  readonly limits: Limits
  /** A program that prints how many bytes stand on its input: one that a worker tries itself by. */
  readonly trial: string
}
