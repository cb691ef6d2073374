// How the page asks its own service. The key goes in a header, to this origin alone.
import { RunledgerError } from '#client'
import { backOff, pause } from '#client-retry'
import { dropKey, key } from './session.ts'
import { createStore } from './store.ts'

/** What keeps the page from its service for the moment; null: nothing. */
export const trouble = createStore<string | null>(null)

// By who has it: what another has achieved ends nobody's.
const troubles = new Map<object, string>()

/** @param who takes back the same one's by null. */
export function complain(who: object, message: string | null): void {
  if (message === null) troubles.delete(who)
  else troubles.set(who, message)
  trouble.set([...troubles.values()].at(-1) ?? null)
}

interface Call {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** In place of the kept one. */
  readonly apiKey?: string | null
}

/** @returns the answer as it begins, whatever it is. */
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

/** @throws {RunledgerError} for any answer but success; a key that is refused is dropped. */
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

/** Drops the key that was refused, if it is still the one that is kept. */
export function noteRefusal(error: unknown, apiKey: string | null): void {
  if (error instanceof RunledgerError && error.status === 401 && apiKey === key.get())
    dropKey(`${error.message} Enter another one.`)
}

/** Goes on until it is done or fails for good; a passing failure is reported as `trouble`. */
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
        // A browser does not let a page know why there was no answer.
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
