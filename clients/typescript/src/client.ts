// A client of the HTTP API for any JavaScript with fetch and WebCrypto. Imports nothing but the files beside it, so the
// folder can be copied.
import { describeBatch, readBatch } from './batch.ts'
import type { BatchOptions, EndedItem, RefusedItem, SubmitOptions } from './batch.ts'
import { isWorthAnother, RunledgerError } from './error.ts'
import type { SubmissionRequest } from './request.ts'
import type { Language, LedgerEvent, ListFilter, ResultPage } from './list.ts'
import type { MissingResult, ReceivedRequest, Result } from './result.ts'
import { backOff, pause } from './retry.ts'
import { readStream } from './stream.ts'
import type { StreamEvent, StreamOptions } from './stream.ts'
import { createAttempt, createSender, demandOwnPath, parseServiceUrl } from './transport.ts'
import type { Attempt, CallOptions } from './transport.ts'

export type { BatchOptions, EndedItem, RefusedItem, SubmitOptions } from './batch.ts'
export { RunledgerError } from './error.ts'
export type { RequestIssue } from './error.ts'
export type * from './request.ts'
export type * from './list.ts'
export type * from './result.ts'
export { createOperator } from './operator.ts'
export type * from './operator.ts'
export { openStream } from './stream.ts'
export type { StreamedOutput, StreamedTest, StreamEvent, StreamOptions } from './stream.ts'
export { parseServiceUrl } from './transport.ts'
export type { CallOptions } from './transport.ts'
export { verifyWebhook } from './webhook.ts'
export type { ReceivedWebhook, WebhookPayload } from './webhook.ts'

export interface ClientOptions {
  /** Such as `https://runledger.example.com`; http only for this machine, as the key goes along. */
  readonly url: string
  readonly apiKey: string
  /** Tries after 429, 503 or no answer. Default 5. */
  readonly retries?: number
  readonly fetch?: typeof fetch
}

/** Accepted, or refused. */
export type BatchItem = { readonly id: string } | RefusedItem

/** `id`: that the batch's webhook names, if it has one; null: no item was accepted. */
export type BatchItems = BatchItem[] & { readonly id?: string | null }

/** A DSSE envelope; `payload` is base64 of JSON (`ReceiptPayload` of `/openapi.json`), signed by Ed25519. */
export interface Receipt {
  readonly payloadType: string
  readonly payload: string
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[]
}

export interface Client {
  /** Resolves when the service has the submission on disk. */
  submit(request: SubmissionRequest, options?: SubmitOptions): Promise<{ readonly id: string }>
  /** As many at once as the key's tier allows (20 for beta); one element an item, in order. */
  submitBatch(requests: readonly SubmissionRequest[], options?: BatchOptions): Promise<BatchItems>
  /** Submits a batch; its items as they end, each once; a connection that breaks is made anew. */
  runBatch(
    requests: readonly SubmissionRequest[],
    options?: BatchOptions,
  ): AsyncGenerator<EndedItem, void>
  /** The result as it stands. */
  read(id: string, options?: CallOptions): Promise<Result>
  /** What was submitted, while it is kept; afterwards it throws 410 `purged`. */
  request(id: string, options?: CallOptions): Promise<ReceivedRequest>
  /** Several at once, up to 100, in their order; what is not there, or too large beside the others, says so in its place. */
  results(ids: readonly string[], options?: CallOptions): Promise<(Result | MissingResult)[]>
  /** A page of the account's own, newest first; `next_cursor` is the next one's `cursor`. */
  list(filter?: ListFilter, options?: CallOptions): Promise<ResultPage>
  /** What can be submitted now. */
  languages(options?: CallOptions): Promise<readonly Language[]>
  /** What happened to a submission, and to its webhook, oldest first. */
  events(id: string, options?: CallOptions): Promise<readonly LedgerEvent[]>
  /** Resolves at the end, however long that takes, or by the signal. */
  wait(id: string, options?: CallOptions): Promise<Result>
  /** What happens until the end, as it happens, each event once; a connection that breaks is made anew. */
  stream(id: string, options?: StreamOptions): AsyncGenerator<StreamEvent, void>
  /** Takes a submission back, and resolves with its result as it stands; `wait` tells when what ran is dead. */
  cancel(id: string, options?: CallOptions): Promise<Result>
  /** Uploads a long input, or a long expected output. Resolves with its name for submissions when it is on disk. */
  putBlob(bytes: Uint8Array<ArrayBuffer>, options?: CallOptions): Promise<string>
  /** Whether it was uploaded and is there still. @param sha256 64 hexadecimal digits, in lower case. */
  hasBlob(sha256: string, options?: CallOptions): Promise<boolean>
  /** Submits what has ended once more, as it was, but without its webhook. Resolves when the service has it on disk. */
  rerun(id: string, options?: SubmitOptions): Promise<{ readonly id: string }>
  /** A signed receipt of what has ended: a DSSE envelope, to be kept as it is. */
  receipt(id: string, options?: CallOptions): Promise<Receipt>
  /** Asks for any other path of the service, without a slash before it, and tries again as all else does. */
  readonly call: Attempt
  /** Submits and waits; what failed by the service's fault is submitted again, twice at most, unless it has the caller's own key. */
  run(request: SubmissionRequest, options?: SubmitOptions): Promise<Result>
}

/** Beyond the attempts of the service's own. */
const platformRetries = 2

/** Every method throws RunledgerError; `call` a TypeError, too, when its path leads to another service. */
export function createClient(options: ClientOptions): Client {
  const { apiKey, retries = 5 } = options
  const root = parseServiceUrl(options.url)
  const send = createSender(root, apiKey, options.fetch ?? fetch)
  const attempt = createAttempt(send)

  const call: Attempt = async (method, path, request = {}) => {
    demandOwnPath(root, path)
    for (let tried = 0; ; tried += 1) {
      try {
        return await attempt(method, path, request)
      } catch (error) {
        if (!(error instanceof RunledgerError) || !isWorthAnother(error) || tried >= retries) {
          throw error
        }
        const asked = (error.retryAfterSeconds ?? 0) * 1000
        await pause(Math.max(asked, backOff(tried)), request.signal)
      }
    }
  }

  const read = async (id: string, query: string, given: CallOptions = {}): Promise<Result> =>
    (await call('GET', `api/result/${encodeURIComponent(id)}${query}`, given)) as Result

  const client: Client = {
    call,
    async submit(body, given = {}) {
      const key = given.idempotencyKey ?? crypto.randomUUID()
      const { id } = (await call('POST', 'api/submit', { ...given, body, key })) as Result
      return { id }
    },
    async submitBatch(submissions, given = {}) {
      const key = given.idempotencyKey ?? crypto.randomUUID()
      const body = describeBatch(submissions, given)
      const answer = await call('POST', 'api/submit/batch', { ...given, body, key })
      const { submissions: items, ...batch } = answer as { submissions: BatchItem[] }
      return Object.assign(items, batch)
    },
    runBatch: (submissions, given = {}) => readBatch(send, retries, submissions, given),
    read: (id, given) => read(id, '', given),
    request: async (id, given = {}) =>
      (await call('GET', `api/result/${encodeURIComponent(id)}/request`, given)) as ReceivedRequest,
    async results(ids, given = {}) {
      const answer = await call(
        'GET',
        `api/results?ids=${encodeURIComponent(ids.join(','))}`,
        given,
      )
      return (answer as { results: (Result | MissingResult)[] }).results
    },
    async list(filter = {}, given = {}) {
      const query = Object.entries(filter).filter(([, value]) => value !== undefined)
      const text = new URLSearchParams(query.map(([name, value]) => [name, String(value)]))
      return (await call('GET', `api/submissions?${text}`, given)) as ResultPage
    },
    async languages(given = {}) {
      const answer = await call('GET', 'api/languages', given)
      return (answer as { languages: readonly Language[] }).languages
    },
    async events(id, given = {}) {
      const answer = await call('GET', `api/result/${encodeURIComponent(id)}/events`, given)
      return (answer as { events: readonly LedgerEvent[] }).events
    },
    async wait(id, given) {
      for (let quick = 0; ;) {
        const start = performance.now()
        const result = await read(id, '?wait=true', given)
        if (result.status !== 'queued' && result.status !== 'running') return result
        // For a service that does not hold the request.
        quick = performance.now() - start < 1000 ? quick + 1 : 0
        if (quick > 0) await pause(backOff(quick), given?.signal)
      }
    },
    stream: (id, given = {}) => readStream(send, retries, id, given),
    cancel: async (id, given = {}) =>
      (await call('POST', `api/result/${encodeURIComponent(id)}/cancel`, given)) as Result,
    async putBlob(bytes, given = {}) {
      const sha256 = await nameBlob(bytes)
      await call('PUT', `api/blobs/${sha256}`, { ...given, bytes })
      return sha256
    },
    async hasBlob(sha256, given = {}) {
      try {
        await call('HEAD', `api/blobs/${encodeURIComponent(sha256)}`, given)
        return true
      } catch (error) {
        if (error instanceof RunledgerError && error.status === 404) return false
        throw error
      }
    },
    async rerun(original, given = {}) {
      const key = given.idempotencyKey ?? crypto.randomUUID()
      const path = `api/result/${encodeURIComponent(original)}/rerun`
      const { id } = (await call('POST', path, { ...given, key })) as Result
      return { id }
    },
    receipt: async (id, given = {}) =>
      (await call('GET', `api/result/${encodeURIComponent(id)}/receipt`, given)) as Receipt,
    async run(request, given = {}) {
      for (let tried = 0; ; tried += 1) {
        const { id } = await client.submit(request, given)
        const result = await client.wait(id, given)
        // A key of the caller's own names this one submission, whatever became of it.
        const isOver = result.fault !== 'platform' || given.idempotencyKey !== undefined
        if (isOver || tried >= platformRetries) return result
      }
    },
  }
  return client
}

/** What a blob is called: its SHA-256 in hexadecimal. */
export async function nameBlob(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
