// Sends one request and reads its answer, without a retry.
import { RunledgerError } from './error.ts'

/**
 * Parses the service's URL and adds the final slash that paths need.
 * @throws {TypeError} when the text is not a URL, or when the URL would send the key in the clear.
 */
export function parseServiceUrl(text: string): URL {
  const whole = text.endsWith('/') ? text : `${text}/`
  if (!URL.canParse(whole))
    throw new TypeError('the URL must be one such as https://runledger.example.com')
  const url = new URL(whole)
  const isOwnMachine = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isOwnMachine)) {
    throw new TypeError('the URL must be https: (http: only for this machine)')
  }
  return url
}

export interface CallOptions {
  readonly signal?: AbortSignal
}

export type Attempt = (
  method: 'GET' | 'HEAD' | 'POST' | 'PUT',
  path: string,
  request?: {
    /** Sent as JSON. */
    readonly body?: unknown
    /** Sent unchanged. */
    readonly bytes?: Uint8Array<ArrayBuffer>
    readonly key?: string
    readonly signal?: AbortSignal
  },
) => Promise<unknown>

export type Send = (
  method: 'GET' | 'HEAD' | 'POST' | 'PUT',
  path: string,
  headers: Readonly<Record<string, string>>,
  request: {
    readonly body?: string | Uint8Array<ArrayBuffer>
    readonly signal?: AbortSignal
  },
) => Promise<Response>

export function createSender(root: URL, apiKey: string, send: typeof fetch): Send {
  return (method, path, headers, request) =>
    send(new URL(path, root), {
      method,
      redirect: 'manual', // the key is for this service only
      headers: { 'X-API-Key': apiKey, ...headers },
      ...request,
    }).catch((error: unknown) => {
      throw describeSilence(error, request.signal, root.origin)
    })
}

/** @throws {TypeError} when the path leads to another service, which would receive the key. */
export function demandOwnPath(root: URL, path: string): void {
  if (!URL.parse(path, root)?.href.startsWith(root.href))
    throw new TypeError('the path leads to another service')
}

export function createAttempt(send: Send): Attempt {
  return async (method, path, { body, bytes, key, signal } = {}) => {
    let response: Response
    let answer: unknown
    try {
      const headers = {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(bytes !== undefined && { 'Content-Type': 'application/octet-stream' }),
        ...(key !== undefined && { 'Idempotency-Key': key }),
      }
      response = await send(method, path, headers, {
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(bytes !== undefined && { body: bytes }),
        ...(signal !== undefined && { signal }),
      })
      answer = await parseAnswer(response)
    } catch (error) {
      throw error instanceof RunledgerError ? error : describeSilence(error, signal)
    }
    if (!response.ok || (answer === undefined && method !== 'HEAD')) {
      throw new RunledgerError(response.status, answer, response.headers.get('retry-after'))
    }
    return answer
  }
}

export async function parseAnswer(response: Response): Promise<unknown> {
  const text = await response.text()
  return text.startsWith('{') ? JSON.parse(text) : undefined
}

/** Describes a missing answer. @param origin of the service, where it is known. @throws the signal's reason. */
export function describeSilence(
  error: unknown,
  signal: AbortSignal | undefined,
  origin = 'the service',
): RunledgerError {
  signal?.throwIfAborted()
  const message = `no answer from ${origin} (${describeCause(error)})`
  return new RunledgerError(0, { error: 'unreachable', message }, null, error)
}

/** Returns a code such as `ECONNREFUSED`, or a certificate error with its code. Browsers give only a message of their own. */
function describeCause(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown }
  const { code, message } = Object(cause ?? error) as { code?: unknown; message?: unknown }
  if (typeof code !== 'string') return typeof message === 'string' ? message : String(error)
  const isSystem = /^E[A-Z]+$/.test(code) || typeof message !== 'string' || message === ''
  // The text after the semicolon is advice from the runtime.
  return isSystem ? code : `${message.split(';')[0]}, ${code}`
}
