// The body of a submission.

/** A program to run. */
export interface SubmissionRequest {
  /** A name or alias from `GET /api/languages`. */
  readonly language: string
  readonly code: string
  readonly stdin?: string
  readonly expected_stdout?: string
  /** In place of `stdin` and `expected_stdout`: the names that `putBlob` resolved with. */
  readonly stdin_sha256?: string
  readonly expected_stdout_sha256?: string
  /** Stored beside the main file. Files in the submission's language are compiled with it. */
  readonly files?: readonly SubmittedFile[]
  readonly args?: readonly string[]
  readonly compile_args?: readonly string[]
  /** The program's variables. */
  readonly env?: Readonly<Record<string, string>>
  readonly limits?: Limits
  readonly compile_limits?: Limits
  /** The program is compiled once and run once for each test. Not together with `stdin` or `expected_stdout`. */
  readonly tests?: readonly Test[]
  readonly stop_on_failure?: boolean
  /** Groups of tests. A group's points are given when all its tests pass. Not together with points of tests. */
  readonly groups?: readonly Group[]
  readonly checker?: Checker
  /** A program that talks to the submitted one in each test. Takes the place of a checker. */
  readonly interactor?: Interactor
  readonly stdin_encoding?: 'utf8' | 'base64'
  readonly output_encoding?: 'utf8' | 'base64'
  /** Names of files that are returned if the program leaves them. Not together with `tests`. */
  readonly output_files?: readonly string[]
  /** Merges stderr into stdout, in the order of writing. */
  readonly merge_stderr?: boolean
  /** loopback: the program has 127.0.0.1 and ::1, in a network of its own. */
  readonly network?: 'none' | 'loopback'
  /** low: the submission waits until no submission of normal priority waits. */
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

/** Seconds, bytes and a count. A limit that is left out has the language's default. */
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
  /** For passing the test. */
  readonly points?: number
  /** The name of one of `groups`. */
  readonly group?: string
}

export interface Group {
  readonly name: string
  readonly points: number
  /** Names of earlier groups. Unless all of them have passed, this group is not run. */
  readonly require_pass?: readonly string[]
}

/** How an output is compared with the expected one. */
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

/** A program that judges by testlib's conventions. */
export interface Interactor {
  readonly type?: 'program'
  readonly language: string
  readonly code: string
  readonly compile_args?: readonly string[]
  readonly files?: readonly SubmittedFile[]
}
