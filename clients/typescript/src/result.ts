// What a submission has come to, as the service tells it.
import type { Limits, SubmissionRequest } from './request.ts'

/** Null: not known yet, or not to be known. Seconds, bytes, RFC 3339 in UTC. */
export interface Result {
  readonly id: string
  readonly status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
  readonly verdict: 'AC' | 'WA' | 'CE' | 'RE' | 'TLE' | 'MLE' | 'OLE' | 'IE' | null
  /** Whose fault the verdict is: `checker` is the caller's own, `platform` the service. Null for AC and until the end. */
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
  /** Since when the outputs are null again: they are not kept for ever. */
  readonly purged_at: string | null
  /** What the compiler used; null for a language without one. `cached`: its program was kept from an earlier submission. */
  readonly compile: {
    readonly exit_code: number
    readonly cpu_time: number
    readonly wall_time: number
    readonly memory_peak: number
    readonly cached: boolean
  } | null
  /** The limit that ended the run. */
  readonly limit: ExceededLimit | null
  /** For WA: where the output is not what was expected. */
  readonly difference: Difference | null
  /** In the order of the request; null without tests. */
  readonly tests: readonly TestResult[] | null
  /** What the run has left of `output_files`; null when none were asked for, and when purged. */
  readonly files: readonly LeftFile[] | null
  readonly tag: string | null
  /** The first submission, if this is a rerun. */
  readonly rerun_of: string | null
  /** What the passed tests are worth, and what all would be; absent where nothing has points. */
  readonly score?: number
  readonly max_score?: number
  /** In the order of the request; null without groups. */
  readonly groups?: readonly GroupResult[] | null
  /** In force in the last attempt; null before the first one. Not in what a webhook is sent, as the next three are not. */
  readonly limits: AttemptLimits | null
  /** Where a limit is below what the language's runtime needs: which one, in words. */
  readonly message: string | null
  /** That attempt's number, from 1. */
  readonly attempt: number | null
  /** When its end was asked for while it ran. */
  readonly cancel_requested_at: string | null
  /** null without `webhook_url`. */
  readonly webhook: WebhookProgress | null
}

/** Content is base64, and null when it did not fit into 1 MiB beside those before it. */
export interface LeftFile {
  readonly name: string
  readonly size: number
  readonly sha256: string | null
  readonly content: string | null
}

export type ExceededLimit = 'cpu_time' | 'wall_time' | 'memory' | 'stdout' | 'stderr' | 'total_time'

/** At most 200 characters of each line; null where there is none. */
export interface Difference {
  readonly line: number
  readonly expected: string | null
  readonly got: string | null
}

/** All but the name is null of a test that was not run. */
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
  /** All of its tests have. */
  readonly passed: boolean
  readonly score: number
  readonly max_score: number
}

export interface WebhookProgress {
  readonly id: string
  readonly state: 'waiting' | 'pending' | 'delivered' | 'abandoned'
  readonly attempts: number
  readonly next_attempt_at: string | null
  /** Why the last attempt failed, in words; null before a failure and once it was delivered. */
  readonly last_error: string | null
}

/** Seconds, bytes and a count; `compile` is null for a language without a compiler. */
export interface AttemptLimits {
  readonly compile: Required<Limits> | null
  readonly run: Required<Limits>
}

/** In place of a result; `too_large`: read it by itself. */
export interface MissingResult {
  readonly id: string
  readonly error: 'not_found' | 'too_large'
  readonly message: string
}

/** What was submitted: `request` without the webhook, to be submitted again as it is. */
export interface ReceivedRequest {
  readonly id: string
  readonly request: SubmissionRequest
  /** In force in the last attempt; null before the first one. */
  readonly limits: AttemptLimits | null
}
