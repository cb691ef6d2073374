// The result of a submission, as the service reports it.
import type { Limits, SubmissionRequest } from './request.ts'

/** A field is null when its value is not known yet or cannot be known. Seconds, bytes, RFC 3339 in UTC. */
export interface Result {
  readonly id: string
  readonly status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
  readonly verdict: 'AC' | 'WA' | 'CE' | 'RE' | 'TLE' | 'MLE' | 'OLE' | 'IE' | null
  /** Whose fault the verdict is: `checker` is the caller's, `platform` is the service's. Null for AC and until the end. */
  readonly fault: 'program' | 'checker' | 'platform' | null
  /** `new_key`: the service failed; submit it again with a new idempotency key. Null until the end. */
  readonly retry: 'never' | 'new_key' | null
  readonly exit_code: number | null
  readonly signal: string | null
  readonly stdout: string | null
  readonly stderr: string | null
  readonly stdout_truncated: boolean | null
  readonly stderr_truncated: boolean | null
  readonly compile_output: string | null
  readonly cpu_time: number | null
  readonly wall_time: number | null
  readonly memory_peak: number | null
  readonly language: string
  readonly runtime: string | null
  readonly created_at: string
  readonly started_at: string | null
  readonly finished_at: string | null
  /** When the outputs were removed. They are null from then on. */
  readonly purged_at: string | null
  /** What the compiler used; null for a language without one. `cached`: the program was compiled for an earlier submission. */
  readonly compile: {
    readonly exit_code: number
    readonly cpu_time: number
    readonly wall_time: number
    readonly memory_peak: number
    readonly cached: boolean
  } | null
  /** The limit that ended the run. */
  readonly limit: ExceededLimit | null
  /** For WA: where the output differs from the expected one. */
  readonly difference: Difference | null
  /** In the order of the request; null without tests. */
  readonly tests: readonly TestResult[] | null
  /** The files of `output_files` that the program left. Null when none were requested, and once purged. */
  readonly files: readonly LeftFile[] | null
  readonly tag: string | null
  /** The id of the original submission, if this is a rerun. */
  readonly rerun_of: string | null
  /** The points of the passed tests. `max_score`: the points of all tests. Absent when nothing has points. */
  readonly score?: number
  readonly max_score?: number
  /** In the order of the request; null without groups. */
  readonly groups?: readonly GroupResult[] | null
  /**
   * The limits in force in the last attempt; null before the first one. A webhook's body has none of `limits`, `message`,
   * `attempt`, `cancel_requested_at` and `webhook`.
   */
  readonly limits: AttemptLimits | null
  /** Names, in words, the limit that is below what the language's runtime needs. */
  readonly message: string | null
  /** The last attempt's number, from 1. */
  readonly attempt: number | null
  /** When cancellation of the running submission was requested. */
  readonly cancel_requested_at: string | null
  /** null without `webhook_url`. */
  readonly webhook: WebhookProgress | null
}

/** A returned file. The content is base64, and null when it did not fit into 1 MiB beside the files before it. */
export interface LeftFile {
  readonly name: string
  readonly size: number
  readonly sha256: string | null
  readonly content: string | null
}

export type ExceededLimit = 'cpu_time' | 'wall_time' | 'memory' | 'stdout' | 'stderr' | 'total_time'

/** At most 200 characters of each line. An output without this line has null. */
export interface Difference {
  readonly line: number
  readonly expected: string | null
  readonly got: string | null
}

/** The result of a test. For a test that was not run, all fields but the name are null. */
export interface TestResult {
  readonly name: string | null
  readonly verdict: 'AC' | 'WA' | 'RE' | 'TLE' | 'MLE' | 'OLE' | 'CE' | 'IE' | null
  readonly exit_code: number | null
  readonly signal: string | null
  readonly cpu_time: number | null
  readonly wall_time: number | null
  readonly memory_peak: number | null
  readonly stdout: string | null
  readonly stderr: string | null
  readonly stdout_truncated: boolean | null
  readonly stderr_truncated: boolean | null
  readonly limit: ExceededLimit | null
  readonly difference: Difference | null
  readonly message: string | null
}

export interface GroupResult {
  readonly name: string
  /** All tests of the group have passed. */
  readonly passed: boolean
  readonly score: number
  readonly max_score: number
}

export interface WebhookProgress {
  readonly id: string
  readonly state: 'waiting' | 'pending' | 'delivered' | 'abandoned'
  readonly attempts: number
  readonly next_attempt_at: string | null
  /** Why the last attempt failed, in words; null before a failure and once the webhook was delivered. */
  readonly last_error: string | null
}

/** Seconds, bytes and a count; `compile` is null for a language without a compiler. */
export interface AttemptLimits {
  readonly compile: Required<Limits> | null
  readonly run: Required<Limits>
}

/** Stands in for a result. `too_large`: read this result alone. */
export interface MissingResult {
  readonly id: string
  readonly error: 'not_found' | 'too_large'
  readonly message: string
}

/** What was submitted. `request` has no webhook and can be submitted again as it is. */
export interface ReceivedRequest {
  readonly id: string
  readonly request: SubmissionRequest
  /** The limits in force in the last attempt; null before the first one. */
  readonly limits: AttemptLimits | null
}
