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
  readonly issues: readonly RequestIssue[]
  /** The submission that goes on although the answer is an error. */
  readonly id: string | undefined
  /** What the service asks for. */
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, body: unknown, retryAfter: string | null, cause?: unknown) {
    const { error, message, issues, id } = (body ?? {}) as Record<string, unknown>
    super(typeof message === 'string' ? message : `The service answered ${status}.`, { cause })
    this.status = status
    this.code = typeof error === 'string' ? error : 'unexpected'
    this.issues = Array.isArray(issues) ? (issues as RequestIssue[]) : []
    this.id = typeof id === 'string' ? id : undefined
    const seconds = Number(retryAfter ?? Number.NaN)
    this.retryAfterSeconds = Number.isFinite(seconds) ? seconds : undefined
  }
}

export function isWorthAnother({ status, id }: RunledgerError): boolean {
  return [0, 408, 429, 502, 503, 504].includes(status) && id === undefined
}
