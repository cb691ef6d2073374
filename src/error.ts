// Errors that an answer reports: clients branch on `code`, people read `message`. Failures of the service are ordinary errors
// and become 500. Failures of a submitted program are outcomes and never thrown.

/** Stable error codes of the HTTP API, with their status; codes are never reused. */
export const problemStatus = {
  invalid_request: 400,
  unauthorized: 401,
  https_required: 403,
  forbidden: 403,
  quota_exceeded: 403,
  not_found: 404,
  method_not_allowed: 405,
  timeout: 408,
  request_timeout: 408,
  not_final: 409,
  purged: 410,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  queue_full: 503,
  unavailable: 503,
} as const

export type ProblemCode = keyof typeof problemStatus

/**
 * Whose fault a failure is. program: the submitted program, whose verdict says how it failed; checker: the caller's own
 * checker; caller: the request; platform: this service.
 */
export const faults = ['program', 'checker', 'caller', 'platform'] as const
type Fault = (typeof faults)[number]

/**
 * Whether to repeat a request. never: the answer would be the same. same_key: at once, with the same Idempotency-Key, so that
 * nothing runs twice. after: with the same key, after Retry-After. new_key: with a new Idempotency-Key, because the answer
 * under the present key does not change.
 */
export const retries = ['never', 'same_key', 'after', 'new_key'] as const
type Retry = (typeof retries)[number]

/** Returns whose fault a failure is, and whether to repeat the request. */
export function blame(code: ProblemCode): { readonly fault: Fault; readonly retry: Retry } {
  const isOurs = problemStatus[code] === 408 || problemStatus[code] >= 500
  const fault = isOurs ? 'platform' : 'caller'
  if (code === 'rate_limited' || code === 'queue_full' || code === 'unavailable')
    return { fault, retry: 'after' }
  return { fault, retry: isOurs ? 'same_key' : 'never' }
}

/** One mistake in a request. `path` is dotted; '' means the request itself. */
export interface Issue {
  readonly path: string
  readonly message: string
}

interface ProblemDetails {
  /** Every mistake in the request. */
  readonly issues?: readonly Issue[]
  /** The id of a submission that goes on although the answer is a problem. */
  readonly id?: string
  /** Headers of the answer, such as `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>
  /** The error for the log. */
  readonly cause?: unknown
}

/** An answer other than success; its message is safe to show to the caller. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  readonly status: number
  readonly details: ProblemDetails

  constructor(code: ProblemCode, message: string, details: ProblemDetails = {}) {
    super(message, { cause: details.cause })
    this.code = code
    this.status = problemStatus[code]
    this.details = details
  }
}
