// What may be asked of a submission.

/** A program to run. */
export interface SubmissionRequest {
  /** A name or alias from `GET /api/languages`. */
  readonly language: string
  readonly code: string
  readonly stdin?: string
  readonly expected_stdout?: string
  /** In their places: what `putBlob` resolved with. */
  readonly stdin_sha256?: string
  readonly expected_stdout_sha256?: string
  /** Beside the main file; those in the language itself are compiled with it. */
  readonly files?: readonly SubmittedFile[]
  readonly args?: readonly string[]
  readonly compile_args?: readonly string[]
  /** The program's variables. */
  readonly env?: Readonly<Record<string, string>>
  readonly limits?: Limits
  readonly compile_limits?: Limits
  /** Compiled once, run once for each. Not together with `stdin` or `expected_stdout`. */
  readonly tests?: readonly Test[]
  readonly stop_on_failure?: boolean
  /** Whose points are given when all tests of one pass; in place of points of tests. */
  readonly groups?: readonly Group[]
  readonly checker?: Checker
  /** Speaks with the program in each test; in place of a checker. */
  readonly interactor?: Interactor
  readonly stdin_encoding?: 'utf8' | 'base64'
  readonly output_encoding?: 'utf8' | 'base64'
  /** Names of files that come back when the run has left them. Not together with `tests`. */
  readonly output_files?: readonly string[]
  /** What it writes to stderr is part of stdout, in order. */
  readonly merge_stderr?: boolean
  /** loopback: 127.0.0.1 and ::1, in a network of its run alone. */
  readonly network?: 'none' | 'loopback'
  /** low: it waits until no normal one does. */
  readonly priority?: 'normal' | 'low'
  readonly tag?: string
  readonly webhook_url?: string
  readonly webhook_secret?: string
}

export interface SubmittedFile {
  readonly name: string
  readonly content: string
  readonly encoding?: 'utf8' | 'base64'
}

/** Seconds, bytes and a count; what is left out is the language's default. */
export interface Limits {
  readonly cpu_time?: number
  readonly wall_time?: number
  readonly memory?: number
  readonly stdout?: number
  readonly stderr?: number
  readonly disk?: number
  readonly processes?: number
}

export interface Test {
  readonly name?: string
  readonly stdin?: string
  readonly expected_stdout?: string
  readonly stdin_sha256?: string
  readonly expected_stdout_sha256?: string
  readonly args?: readonly string[]
  /** For passing it. */
  readonly points?: number
  /** The name of one of `groups`. */
  readonly group?: string
}

export interface Group {
  readonly name: string
  readonly points: number
  /** Names of earlier groups: unless each has passed, this one is not run. */
  readonly require_pass?: readonly string[]
}

/** How an output is held against the expected one. */
export type Checker =
  | { readonly type: 'lines' | 'exact' | 'tokens' | 'unordered_lines' }
  | { readonly type: 'floats'; readonly absolute?: number; readonly relative?: number }
  | {
      readonly type: 'program'
      readonly language: string
      readonly code: string
      readonly compile_args?: readonly string[]
      readonly files?: readonly SubmittedFile[]
    }

/** A program that judges, by testlib's conventions. */
export interface Interactor {
  readonly type?: 'program'
  readonly language: string
  readonly code: string
  readonly compile_args?: readonly string[]
  readonly files?: readonly SubmittedFile[]
}
