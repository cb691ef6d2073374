// The shape of the table: a behaviour that programs have at home, and a program for it in each language that has the thing.
import type { Language } from '#language'

/** Of a record as callers read it. */
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
  /** Fields of the request beside language and code. */
  readonly request?: object
  /** AC and nothing on stderr unless it says otherwise. */
  readonly expected: Expected
}
