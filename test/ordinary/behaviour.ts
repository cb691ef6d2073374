// The type of the table: a behaviour that programs have on an ordinary machine, and a program for it in each language with
// that feature.
import type { Language } from '#language'

/** Expected fields of a record as callers read it. */
export interface Expected {
  readonly verdict?: string | RegExp
  readonly stdout?: string | RegExp
  readonly stderr?: string | RegExp
  readonly limit?: string | null
  readonly exit_code?: number | RegExp
  readonly stdout_truncated?: boolean
  readonly tests?: readonly object[]
  readonly message?: RegExp
}

export interface Behaviour {
  readonly name: string
  readonly programs: Partial<Record<Language, string>>
  /** Fields of the request besides language and code. */
  readonly request?: { readonly limits?: object; readonly [field: string]: unknown }
  /** By default the verdict AC, exit code 0 and nothing on stderr. */
  readonly expected: Expected
}
