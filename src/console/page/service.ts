// The page's calls to its own service. The key goes in a header, to this origin alone.
import { RunledgerError } from '#client'
import type { Result, SubmissionRequest } from '#client'
import { formatFilter } from './route.ts'
import type { Filter } from './route.ts'
import { dropKey, key } from './session.ts'
import { createStore } from './store.ts'

/** A language that a worker offers, as GET /api/languages tells it. */
export interface OfferedLanguage {
  readonly name: string
  readonly title: string
  readonly aliases: readonly string[]
  readonly extensions: readonly string[]
  readonly runtime: string
  readonly compile: readonly string[] | null
  readonly run: readonly string[]
  readonly limits: { readonly run: RunLimits } | null
  readonly example: string | null
  readonly workers: number
}

/** Of a program: seconds and bytes. */
export interface RunLimits {
  readonly cpu_seconds: number
  readonly wall_seconds: number
  readonly memory_bytes: number
}

export interface LogEvent {
  readonly position: number
  readonly type: string
  readonly at: string
  readonly data: Readonly<Record<string, unknown>>
}

export type Summary = Omit<
  Result,
  'stdout' | 'stderr' | 'compile_output' | 'tests' | 'files' | 'webhook'
>

/** What keeps the page from its service for the moment; null: nothing. */
export const trouble = createStore<string | null>(null)

interface Call {
  readonly body?: unknown
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal | undefined
  readonly prefer?: string
  /** In place of the kept one. */
  readonly apiKey?: string
}

/** @throws {RunledgerError} for any answer but success; a key that is refused is dropped. */
export async function call<T>(method: 'GET' | 'POST', path: string, given: Call = {}): Promise<T> {
  const { body, idempotencyKey, signal, prefer, apiKey = key.get() } = given
  let response: Response
  let answer: unknown
  try {
    response = await fetch(path, {
      method,
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      credentials: 'omit',
      cache: 'no-store',
      headers: {
        'X-API-Key': apiKey ?? '',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        ...(prefer !== undefined && { Prefer: prefer }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    })
    answer = await response.json()
  } catch (error) {
    signal?.throwIfAborted()
    const message = 'The service cannot be reached.'
    throw new RunledgerError(0, { error: 'unreachable', message }, null, error)
  }
  if (response.ok) return answer as T
  const error = new RunledgerError(response.status, answer, response.headers.get('retry-after'))
  if (error.status === 401 && apiKey === key.get()) dropKey(`${error.message} Enter another one.`)
  throw error
}

const shortestMilliseconds = 500
const longestMilliseconds = 4000

/** Goes on until it is done or fails for good; what passes is told as `trouble`. */
export async function persist<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  for (let tried = 0; ; tried += 1) {
    try {
      const done = await work()
      trouble.set(null)
      return done
    } catch (error) {
      if (!(error instanceof RunledgerError) || ![0, 429, 502, 503, 504].includes(error.status)) {
        if (error instanceof RunledgerError) trouble.set(null)
        throw error
      }
      trouble.set(`${error.message} Trying again…`)
      const usual = Math.min(longestMilliseconds, shortestMilliseconds * 2 ** tried)
      await pause(Math.max(usual, (error.retryAfterSeconds ?? 0) * 1000), signal)
    }
  }
}

export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}

/** Those with the most workers do not come first: people look for a name. */
export async function readLanguages(
  signal?: AbortSignal,
  apiKey?: string,
): Promise<readonly OfferedLanguage[]> {
  const given = { signal, ...(apiKey !== undefined && { apiKey }) }
  const ask = (): Promise<{ languages: OfferedLanguage[] }> => call('GET', '/api/languages', given)
  // A key that is tried is answered at once, whatever the answer.
  const { languages } = await (apiKey === undefined ? persist(signal, ask) : ask())
  return languages.toSorted((a, b) => a.title.localeCompare(b.title))
}

/** Once, however often it has to be sent. @returns its id. */
export async function submit(request: SubmissionRequest, signal: AbortSignal): Promise<string> {
  const idempotencyKey = makeUuid()
  const { id } = await persist(signal, () =>
    call<{ id: string }>('POST', '/api/submit', { body: request, idempotencyKey, signal }),
  )
  return id
}

// crypto.randomUUID is for secure contexts alone, and a page on a LAN may be none.
function makeUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5')
}

export function isFinal({ status }: Pick<Result, 'status'>): boolean {
  return status !== 'queued' && status !== 'running'
}

/** Tells the record as it stands, then what becomes of it, until it is final. */
export async function watch(
  id: string,
  signal: AbortSignal,
  tell: (record: Result) => void,
): Promise<Result> {
  const path = `/api/result/${encodeURIComponent(id)}`
  for (let first = true; ; first = false) {
    // Most programs end within a second: one request for them, and for the others a first word soon.
    const given = { signal, ...(first && { prefer: 'wait=1' }) }
    const record = await persist(signal, () => call<Result>('GET', `${path}?wait=true`, given))
    tell(record)
    if (isFinal(record)) return record
  }
}

export function read(id: string, signal: AbortSignal): Promise<Result> {
  return persist(signal, () =>
    call<Result>('GET', `/api/result/${encodeURIComponent(id)}`, { signal }),
  )
}

export function cancel(id: string): Promise<Result> {
  return call('POST', `/api/result/${encodeURIComponent(id)}/cancel`)
}

export async function readEvents(id: string, signal: AbortSignal): Promise<readonly LogEvent[]> {
  const path = `/api/result/${encodeURIComponent(id)}/events`
  return (await persist(signal, () => call<{ events: LogEvent[] }>('GET', path, { signal }))).events
}

export interface Page {
  readonly submissions: readonly Summary[]
  readonly next_cursor: string | null
}

export function list(filter: Filter, signal: AbortSignal): Promise<Page> {
  const query = formatFilter(filter)
  const path = `/api/submissions?limit=25${query === '' ? '' : `&${query}`}`
  return persist(signal, () => call<Page>('GET', path, { signal }))
}
