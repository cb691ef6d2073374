// What a language says of itself.
import type { Limits } from './limits.ts'

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
  /** The limits that hold when an operator sets none. */
  readonly limits: Limits
  /** A program that prints how many bytes stand on its input: one that a worker tries itself by. */
  readonly trial: string
}
