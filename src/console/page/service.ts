// What the page asks of its service.
import type { Language, Receipt, Result, SubmissionRequest } from '#client'
import { call, persist } from './call.ts'
import type { Filter } from './route.ts'

/** A language that a worker offers, as GET /api/languages returns it. */
export type OfferedLanguage = Language

/** Of a program: seconds and bytes. */
export interface RunLimits {
  readonly cpu_time: number
  readonly wall_time: number
  readonly memory: number
}

export interface LogEvent {
  readonly position: number
  readonly type: string
  readonly at: string
  /** Hexadecimal. */
  readonly hash: string
  readonly data: Readonly<Record<string, unknown>>
}

export type Summary = Omit<
  Result,
  'stdout' | 'stderr' | 'compile_output' | 'tests' | 'files' | 'webhook'
> & {
  /** The first line of the program; null once it was purged. */
  readonly preview?: string | null
  /** False: nothing was expected of it. */
  readonly judged?: boolean | null
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
export function submit(request: SubmissionRequest, signal: AbortSignal): Promise<string> {
  return create('/api/submit', request, signal)
}

/** What has ended once more. @returns the new one's id. */
export function rerun(id: string, signal: AbortSignal): Promise<string> {
  return create(`${resultPath(id)}/rerun`, undefined, signal)
}

async function create(path: string, body: unknown, signal: AbortSignal): Promise<string> {
  const headers = { 'Idempotency-Key': makeUuid() }
  const { id } = await persist(signal, () =>
    call<{ id: string }>('POST', path, { body, headers, signal }),
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

export function read(id: string, signal: AbortSignal): Promise<Result> {
  return persist(signal, () => call<Result>('GET', resultPath(id), { signal }))
}

/** Takes it back, however often that has to be sent. */
export function cancel(id: string, signal: AbortSignal): Promise<Result> {
  return persist(signal, () => call<Result>('POST', `${resultPath(id)}/cancel`, { signal }))
}

export function readReceipt(id: string, signal: AbortSignal): Promise<Receipt> {
  return persist(signal, () => call<Receipt>('GET', `${resultPath(id)}/receipt`, { signal }))
}

/** What was submitted. @throws {RunledgerError} 410 once it was purged. */
export async function readRequest(id: string, signal: AbortSignal): Promise<SubmissionRequest> {
  const path = `${resultPath(id)}/request`
  const given = { signal }
  return (await persist(signal, () => call<{ request: SubmissionRequest }>('GET', path, given)))
    .request
}

/** Whether there are any of this service: only with a key that signs them. */
export async function signsReceipts(): Promise<boolean> {
  return fetch('/receipt-key', { credentials: 'omit' }).then(
    ({ ok }) => ok,
    () => false,
  )
}

export async function readEvents(id: string, signal: AbortSignal): Promise<readonly LogEvent[]> {
  const path = `${resultPath(id)}/events`
  return (await persist(signal, () => call<{ events: LogEvent[] }>('GET', path, { signal }))).events
}

export function resultPath(id: string): string {
  return `/api/result/${encodeURIComponent(id)}`
}

export interface Page {
  readonly submissions: readonly Summary[]
  readonly next_cursor: string | null
}

export function list({ day = '', ...filter }: Filter, signal: AbortSignal): Promise<Page> {
  const query = new URLSearchParams({ ...filter, ...spanDay(day), limit: '25', preview: 'true' })
  const path = `/api/submissions?${query.toString()}`
  return persist(signal, () => call<Page>('GET', path, { signal }))
}

/** A day of the reader's own, as the service asks for it. */
function spanDay(day: string): { readonly since?: string; readonly until?: string } {
  const since = new Date(`${day}T00:00:00`)
  if (Number.isNaN(since.getTime())) return {}
  // Not 24 hours: a clock may be set that day.
  const until = new Date(since)
  until.setDate(since.getDate() + 1)
  return { since: since.toISOString(), until: until.toISOString() }
}
