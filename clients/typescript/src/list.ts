// The service's lists: an account's results, languages, and the events of a submission.
import type { AttemptLimits, Result } from './result.ts'

/** A result must match all given fields. */
export interface ListFilter {
  readonly status?: Result['status']
  readonly verdict?: NonNullable<Result['verdict']>
  readonly language?: string
  readonly tag?: string
  /** From 1 to 100; 50 unless given. */
  readonly limit?: number
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string
}

/** A result without the program's output. */
export type ResultSummary = Omit<
  Result,
  | 'stdout'
  | 'stderr'
  | 'compile_output'
  | 'difference'
  | 'tests'
  | 'groups'
  | 'files'
  | 'limits'
  | 'attempt'
  | 'cancel_requested_at'
  | 'webhook'
>

export interface ResultPage {
  readonly submissions: readonly ResultSummary[]
  /** null on the last page. A page may be short or empty and still have a next one. */
  readonly next_cursor: string | null
}

export interface Language {
  readonly name: string
  /** The language's usual name. */
  readonly title: string
  readonly aliases: readonly string[]
  /** The extensions of source files. */
  readonly extensions: readonly string[]
  /** The exact version. */
  readonly runtime: string
  /** Command lines. null for a language without a compiler. */
  readonly compile: readonly string[] | null
  readonly run: readonly string[]
  readonly limits: AttemptLimits | null
  /** A program that prints `Hello, world!`. */
  readonly example: string | null
  /** How many workers offer the language now. */
  readonly workers: number
}

/** `version` counts within the stream of the submission or its webhook. `hash` covers the event and all earlier ones there. */
export interface LedgerEvent {
  readonly position: number
  readonly version: number
  readonly type: string
  /** RFC 3339 in UTC. */
  readonly at: string
  readonly hash: string
  readonly data: Readonly<Record<string, unknown>>
}
