// What the service lists: an account's results, languages, and the events of a submission.
import type { AttemptLimits, Result } from './result.ts'

/** All that is given must hold. */
export interface ListFilter {
  readonly status?: Result['status']
  readonly verdict?: NonNullable<Result['verdict']>
  readonly language?: string
  readonly tag?: string
  /** From 1 to 100; 50 unless given. */
  readonly limit?: number
  /** The `next_cursor` of the page before. */
  readonly cursor?: string
}

/** A result without what the program wrote. */
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
  /** null on the last page; a page may be short, or empty, and have a next one. */
  readonly next_cursor: string | null
}

export interface Language {
  readonly name: string
  /** What people call it. */
  readonly title: string
  readonly aliases: readonly string[]
  /** How the names of its source files end. */
  readonly extensions: readonly string[]
  /** The exact version. */
  readonly runtime: string
  /** Command lines; null: it has no compiler. */
  readonly compile: readonly string[] | null
  readonly run: readonly string[]
  readonly limits: AttemptLimits | null
  /** A program that prints `Hello, world!`. */
  readonly example: string | null
  /** How many offer it now. */
  readonly workers: number
}

/** `version` counts within its stream, the submission or its webhook; `hash` is over it and all before it there. */
export interface LedgerEvent {
  readonly position: number
  readonly version: number
  readonly type: string
  /** RFC 3339 in UTC. */
  readonly at: string
  readonly hash: string
  readonly data: Readonly<Record<string, unknown>>
}
