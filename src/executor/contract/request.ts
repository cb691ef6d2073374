// What the executor is asked to do: a program and its input.
import type { Language } from '#language'

export { languages } from '#language'
export type { Language, Limits, PhaseLimits } from '#language'

/** One program to run once. */
export interface ExecutionRequest {
  readonly language: Language
  /** The source, UTF-8; any bytes, NUL included. */
  readonly code: Uint8Array
  /** Fed to the program's standard input, then closed. */
  readonly stdin: Uint8Array
  /** Whose program it is: what is kept of its compilation is found again under the same name alone. */
  readonly cacheScope: string
  /** Ends the program where it is: everything is killed, and what it had done until then is its fate. */
  readonly stop?: AbortSignal | undefined
}
