// What a failed call throws, and whether another try is worth it.

export interface RequestIssue {
  readonly path: string
  readonly message: string
}

/** An answer other than success; without one, `status` 0 and code `unreachable`. */
export class RunledgerError extends Error {
  override readonly name = 'RunledgerError'
  readonly status: number
  readonly code: string
  /** caller: the request has to change; platform: the service, or the way to it. */
  readonly fault: 'caller' | 'platform'
  /** same_key: at once, with the same idempotency key; after: the same, after `retryAfterSeconds`. */
  readonly retry: 'never' | 'same_key' | 'after'
  readonly issues: readonly RequestIssue[]
  /** The submission that goes on although the answer is an error. */
  readonly id: string | undefined
  /** What the service asks for. */
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

/** False also for a submission that goes on: its end can be waited for. */
export function isWorthAnother({ retry, id }: RunledgerError): boolean {
  return retry !== 'never' && id === undefined
}

function isRetry(word: unknown): word is RunledgerError['retry'] {
  return word === 'never' || word === 'same_key' || word === 'after'
}

// Of an answer that something between us and the service gave, or of none.

function guessFault(status: number): RunledgerError['fault'] {
  return status >= 400 && status < 500 && status !== 408 ? 'caller' : 'platform'
}

function guessRetry(status: number): RunledgerError['retry'] {
  if (status === 429 || status === 503) return 'after'
  return guessFault(status) === 'platform' ? 'same_key' : 'never'
}
