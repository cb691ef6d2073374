// The page's requests to its service.
import type {
  Language,
  LedgerEvent,
  Receipt,
  ReceivedRequest,
  Result,
  ResultPage,
  ResultSummary,
  SubmissionRequest,
} from '#client'
import { call, reach } from './call.ts'
import type { Filter } from './route.ts'

export type Summary = ResultSummary & {
  /** The first line of the program; null once the program was purged. */
  readonly preview?: string | null
  /** False when no output was expected. */
  readonly judged?: boolean | null
}

/** Reads the offered languages, sorted by title because people look for a name. */
export async function readLanguages(
  signal?: AbortSignal,
  apiKey?: string,
): Promise<readonly Language[]> {
  const given = { signal, ...(apiKey !== undefined && { apiKey }) }
  // When a key is being tried, every answer is reported at once, without a retry.
  const ask = apiKey === undefined ? reach : call
  const { languages } = await ask<{ languages: Language[] }>('GET', '/api/languages', given)
  return languages.toSorted((a, b) => a.title.localeCompare(b.title))
}

/** Submits a request once, however often it has to be sent. @returns the submission's id. */
export function submit(request: SubmissionRequest, signal: AbortSignal): Promise<string> {
  return create('/api/submit', request, signal)
}

/** Reruns an ended submission. @returns the rerun's id. */
export function rerun(id: string, signal: AbortSignal): Promise<string> {
  return create(`${resultPath(id)}/rerun`, undefined, signal)
}

async function create(path: string, body: unknown, signal: AbortSignal): Promise<string> {
  const headers = { 'Idempotency-Key': makeUuid() }
  const { id } = await reach<{ id: string }>('POST', path, { body, headers, signal })
  return id
}

// crypto.randomUUID exists only in secure contexts, and a page on a LAN may not be one.
function makeUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5')
}

export function isFinal({ status }: Pick<Result, 'status'>): boolean {
  return status !== 'queued' && status !== 'running'
}

export function read(id: string, signal: AbortSignal): Promise<Result> {
  return reach('GET', resultPath(id), { signal })
}

/** Cancels a submission, and resends the request as often as needed. */
export function cancel(id: string, signal: AbortSignal): Promise<Result> {
  return reach('POST', `${resultPath(id)}/cancel`, { signal })
}

export function readReceipt(id: string, signal: AbortSignal): Promise<Receipt> {
  return reach('GET', `${resultPath(id)}/receipt`, { signal })
}

/** Reads what was submitted. @throws {RunledgerError} 410 once it was purged. */
export async function readRequest(id: string, signal: AbortSignal): Promise<SubmissionRequest> {
  const path = `${resultPath(id)}/request`
  const { request } = await reach<ReceivedRequest>('GET', path, { signal })
  return request
}

/** Whether this service signs receipts, which needs a key. */
export async function signsReceipts(): Promise<boolean> {
  return fetch('/receipt-key', { credentials: 'omit' }).then(
    ({ ok }) => ok,
    () => false,
  )
}

export async function readEvents(id: string, signal: AbortSignal): Promise<readonly LedgerEvent[]> {
  const path = `${resultPath(id)}/events`
  const { events } = await reach<{ events: LedgerEvent[] }>('GET', path, { signal })
  return events
}

export function resultPath(id: string): string {
  return `/api/result/${encodeURIComponent(id)}`
}

export interface Page extends ResultPage {
  readonly submissions: readonly Summary[]
}

export function list({ day = '', ...filter }: Filter, signal: AbortSignal): Promise<Page> {
  const query = new URLSearchParams({ ...filter, ...spanDay(day), limit: '25', preview: 'true' })
  return reach('GET', `/api/submissions?${query.toString()}`, { signal })
}

/** Translates a day in the reader's time zone to the API's time span. */
function spanDay(day: string): { readonly since?: string; readonly until?: string } {
  const since = new Date(`${day}T00:00:00`)
  if (Number.isNaN(since.getTime())) return {}
  // A day need not have 24 hours, because clocks may change that day.
  const until = new Date(since)
  until.setDate(since.getDate() + 1)
  return { since: since.toISOString(), until: until.toISOString() }
}
