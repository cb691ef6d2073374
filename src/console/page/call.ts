// Sends the page's requests to its own service. The key is sent in a header, to this origin only.
import { RunledgerError } from '#client'
import { backOff, pause } from '#client-retry'
import { dropKey, key } from './session.ts'
import { createStore } from './store.ts'

/** The message about the failure that the page is waiting out; null: there is none. */
export const trouble = createStore<string | null>(null)

// By operation, so that the success of one does not remove another's message.
const troubles = new Map<object, string>()

/** Sets the message of an operation. @param who the operation. @param message null removes it. */
export function complain(who: object, message: string | null): void {
  if (message === null) troubles.delete(who)
  else troubles.set(who, message)
  trouble.set([...troubles.values()].at(-1) ?? null)
}

interface Call {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Used in place of the stored key. */
  readonly apiKey?: string | null
}

/** Sends a request. @returns the response once its headers arrive, whatever its status. */
export function send(method: 'GET' | 'POST', path: string, given: Call = {}): Promise<Response> {
  const { body, headers, signal, apiKey = key.get() } = given
  return fetch(path, {
    method,
    redirect: 'error',
    referrerPolicy: 'no-referrer',
    credentials: 'omit',
    cache: 'no-store',
    headers: {
      'X-API-Key': apiKey ?? '',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  })
}

const unreachable = 'The service cannot be reached.'

/** Sends a request and reads its answer. Drops a refused key. @throws {RunledgerError} for any answer but success. */
export async function call<T>(method: 'GET' | 'POST', path: string, given: Call = {}): Promise<T> {
  const { signal, apiKey = key.get() } = given
  let response: Response
  let answer: unknown
  try {
    response = await send(method, path, { ...given, apiKey })
    answer = await response.json()
  } catch (error) {
    signal?.throwIfAborted()
    throw new RunledgerError(0, { error: 'unreachable', message: unreachable }, null, error)
  }
  if (response.ok) return answer as T
  const error = new RunledgerError(response.status, answer, response.headers.get('retry-after'))
  noteRefusal(error, apiKey)
  throw error
}

/** Drops a key that was refused, if it is still the stored one. */
export function noteRefusal(error: unknown, apiKey: string | null): void {
  if (error instanceof RunledgerError && error.status === 401 && apiKey === key.get())
    dropKey(`${error.message} Enter another one.`)
}

/** As `call`, but waits out passing failures. */
export function reach<T>(method: 'GET' | 'POST', path: string, given: Call = {}): Promise<T> {
  return persist(given.signal, () => call<T>(method, path, given))
}

/** Retries until the work succeeds or fails for good. Reports a passing failure as `trouble`. */
export async function persist<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const who = {}
  try {
    for (let tried = 0; ; tried += 1) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof RunledgerError) || ![0, 429, 502, 503, 504].includes(error.status))
          throw error
        // A page cannot learn from the browser why there was no answer.
        const reason = error.status === 0 ? unreachable : error.message
        complain(who, `${reason} Trying again…`)
        const milliseconds = Math.max(backOff(tried), (error.retryAfterSeconds ?? 0) * 1000)
        await pause(milliseconds, signal)
      }
    }
  } finally {
    complain(who, null)
  }
}
