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

/** One thing wrong with a request; `path` is dotted, '' the request itself. */
export interface Issue {
  readonly path: string
  readonly message: string
}

export interface ProblemDetails {
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
