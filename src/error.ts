// The caller's mistakes: clients branch on `code`, people read `message`. Our failures are ordinary errors and become
// 500; a program's are outcomes, never thrown.

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
 * Whose fault a failure is. program: its verdict tells how it failed; checker: the caller's own checker; caller: the
 * request; platform: this service.
 */
export const faults = ['program', 'checker', 'caller', 'platform'] as const
type Fault = (typeof faults)[number]

/**
 * Whether to ask again. never: the answer would be the same. same_key: at once, with the same Idempotency-Key, and nothing
 * runs twice. after: the same, after Retry-After. new_key: with a new Idempotency-Key, as the answer of this one stands.
 */
export const retries = ['never', 'same_key', 'after', 'new_key'] as const
type Retry = (typeof retries)[number]

/** Of a failure: whose it is, and whether to ask again. */
interface Blame {
  readonly fault: Fault
  readonly retry: Retry
}

export function blame(code: ProblemCode): Blame {
  const isOurs = problemStatus[code] === 408 || problemStatus[code] >= 500
  const fault = isOurs ? 'platform' : 'caller'
  if (code === 'rate_limited' || code === 'queue_full' || code === 'unavailable')
    return { fault, retry: 'after' }
  return { fault, retry: isOurs ? 'same_key' : 'never' }
}

/** One thing wrong with a request; `path` is dotted, '' the request itself. */
export interface Issue {
  readonly path: string
  readonly message: string
}

interface ProblemDetails {
  /** Everything wrong with the request. */
  readonly issues?: readonly Issue[]
  /** A submission that goes on although the answer is a problem. */
  readonly id?: string
  /** Such as `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>
  /** For the log. */
  readonly cause?: unknown
}

/** An answer other than success: its text is safe to show to the caller. */
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
