// The error that a failed call throws, which says whether a retry is worthwhile.

export interface RequestIssue {
  readonly path: string
  readonly message: string
}

/** An answer other than success. Without an answer, `status` is 0 and `code` is `unreachable`. */
export class RunledgerError extends Error {
  override readonly name = 'RunledgerError'
  readonly status: number
  readonly code: string
  /** caller: the request must change; platform: the service, or the network to it, failed. */
  readonly fault: 'caller' | 'platform'
  /** same_key: retry at once, with the same idempotency key; after: retry with it after `retryAfterSeconds`. */
  readonly retry: 'never' | 'same_key' | 'after'
  readonly issues: readonly RequestIssue[]
  /** The id of a submission that goes on although the answer is an error. */
  readonly id: string | undefined
  /** How long the service asks the client to wait. */
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, body: unknown, retryAfter: string | null, cause?: unknown) {
    const { error, message, fault, retry, issues, id } = (body ?? {}) as Record<string, unknown>
    super(typeof message === 'string' ? message : `The service answered ${status}.`, { cause })
    this.status = status
    this.code = typeof error === 'string' ? error : 'unexpected'
    this.fault = fault === 'caller' || fault === 'platform' ? fault : guessFault(status)
    this.retry = isRetry(retry) ? retry : guessRetry(status)
    this.issues = Array.isArray(issues) ? (issues as RequestIssue[]) : []
    this.id = typeof id === 'string' ? id : undefined
    const seconds = Number(retryAfter ?? Number.NaN)
    this.retryAfterSeconds = Number.isFinite(seconds) ? seconds : undefined
  }
}

/** True when a retry is worthwhile. A submission that goes on needs none, because its end can be waited for. */
export function isWorthAnother({ retry, id }: RunledgerError): boolean {
  return retry !== 'never' && id === undefined
}

function isRetry(word: unknown): word is RunledgerError['retry'] {
  return word === 'never' || word === 'same_key' || word === 'after'
}

// These guess for an answer that came from a proxy in between, or for no answer.

function guessFault(status: number): RunledgerError['fault'] {
  return status >= 400 && status < 500 && status !== 408 ? 'caller' : 'platform'
}

function guessRetry(status: number): RunledgerError['retry'] {
  if (status === 429 || status === 503) return 'after'
  return guessFault(status) === 'platform' ? 'same_key' : 'never'
}
