// Makes one submission over HTTP as a caller does: sends it and waits until it has ended.
import { errors } from 'undici'
import type { Pool } from 'undici'
import type { Result, SubmissionRequest } from '#client'

/** The submission that is sent, the service, and the key. */
export interface LoadTarget {
  /** From parseServiceUrl. */
  readonly url: URL
  readonly apiKey: string
  readonly request: SubmissionRequest
}

export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

/** A submission's result, or an error's code. `unreachable` and `timeout` are codes of this module, not of the service. */
export type Answer =
  | { readonly result: Result }
  | {
      readonly code: string
      readonly retryAfterSeconds?: number
      /** Present when every further submission would get the same answer. */
      readonly refusal?: Refusal
    }

/** Submits and waits. @throws the signal's reason when aborted. */
export async function submitAndWait(
  pool: Pool,
  target: LoadTarget,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    return await askUntilEnded(pool, target, signal)
  } catch (error) {
    signal.throwIfAborted()
    return { code: error instanceof errors.HeadersTimeoutError ? 'timeout' : 'unreachable' }
  }
}

async function askUntilEnded(
  pool: Pool,
  { url, apiKey, request }: LoadTarget,
  signal: AbortSignal,
): Promise<Answer> {
  const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' }
  let next: { method: 'GET' | 'POST'; path: string; body: string | null } = {
    method: 'POST',
    path: 'api/submit?wait=true',
    body: JSON.stringify(request),
  }
  for (;;) {
    const path = `${url.pathname}${next.path}`
    const {
      statusCode,
      headers: answered,
      body,
    } = await pool.request({ ...next, path, headers, signal })
    const record = parse(await body.text())
    const status = record['status']
    if (
      statusCode === 200 &&
      typeof status === 'string' &&
      !['queued', 'running'].includes(status)
    ) {
      return { result: record as unknown as Result }
    }
    const id = record['id']
    // The submission has not ended, so the wait continues.
    const isUnderWay = (statusCode === 408 || statusCode === 200) && typeof id === 'string'
    if (!isUnderWay) return describeError(statusCode, record, answered['retry-after'])
    next = { method: 'GET', path: `api/result/${encodeURIComponent(id)}?wait=true`, body: null }
  }
}

function describeError(
  status: number,
  { error, message }: Readonly<Record<string, unknown>>,
  retryAfter: string | string[] | undefined,
): Answer {
  // The code is shown on terminals, so it is only accepted in the contract's form.
  const code = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? error : `http_${status}`
  const seconds = Number(retryAfter ?? Number.NaN)
  const isForAll = status >= 300 && status < 500 && status !== 408 && status !== 429
  return {
    code,
    ...(Number.isFinite(seconds) && { retryAfterSeconds: seconds }),
    ...(isForAll && {
      refusal: { status, code, message: typeof message === 'string' ? message : '' },
    }),
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return value instanceof Object ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
