// A client of the HTTP API for any JavaScript runtime with fetch and WebCrypto. It imports only the files beside it, so the
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
  /** Such as `https://runledger.example.com`. http only for this machine, because the key is sent along. */
  readonly url: string
  readonly apiKey: string
  /** How often a call is retried after an answer such as 429 or 503, or after none. Default 5. */
  readonly retries?: number
  readonly fetch?: typeof fetch
}

/** An item of a batch: accepted or refused. */
export type BatchItem = { readonly id: string } | RefusedItem

/** `id`: the batch's id in its webhook, if it has one. null: no item was accepted. */
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
  /** Submits as many at once as the key's tier allows (20 for beta). Resolves with one element for each item, in order. */
  submitBatch(requests: readonly SubmissionRequest[], options?: BatchOptions): Promise<BatchItems>
  /** Submits a batch and yields each item once, as it ends. Reconnects when a connection breaks. */
  runBatch(
    requests: readonly SubmissionRequest[],
    options?: BatchOptions,
  ): AsyncGenerator<EndedItem, void>
  /** Reads the current result. */
  read(id: string, options?: CallOptions): Promise<Result>
  /** Reads what was submitted. Throws 410 `purged` once the service has removed it. */
  request(id: string, options?: CallOptions): Promise<ReceivedRequest>
  /** Reads up to 100 results, in order. A missing result, or one too large beside the others, is a `MissingResult`. */
  results(ids: readonly string[], options?: CallOptions): Promise<(Result | MissingResult)[]>
  /** Lists a page of the account's results, newest first. `next_cursor` is the `cursor` of the next page. */
  list(filter?: ListFilter, options?: CallOptions): Promise<ResultPage>
  /** Lists the languages that can be submitted now. */
  languages(options?: CallOptions): Promise<readonly Language[]>
  /** Lists the events of a submission and of its webhook, oldest first. */
  events(id: string, options?: CallOptions): Promise<readonly LedgerEvent[]>
  /** Resolves when the submission has ended, however long that takes. Rejects when the signal fires. */
  wait(id: string, options?: CallOptions): Promise<Result>
  /** Yields each event once, as it happens, until the submission ends. Reconnects when a connection breaks. */
  stream(id: string, options?: StreamOptions): AsyncGenerator<StreamEvent, void>
  /** Cancels a submission and resolves with its current result. `wait` resolves when a running program is dead. */
  cancel(id: string, options?: CallOptions): Promise<Result>
  /** Uploads a long input or expected output. Resolves, when it is on disk, with the name that submissions use for it. */
  putBlob(bytes: Uint8Array<ArrayBuffer>, options?: CallOptions): Promise<string>
  /** Whether a blob was uploaded and still exists. @param sha256 64 hexadecimal digits, in lower case. */
  hasBlob(sha256: string, options?: CallOptions): Promise<boolean>
  /** Submits an ended submission again, unchanged but without its webhook. Resolves when the service has it on disk. */
  rerun(id: string, options?: SubmitOptions): Promise<{ readonly id: string }>
  /** Reads the signed receipt of an ended submission: a DSSE envelope, to be stored unchanged. */
  receipt(id: string, options?: CallOptions): Promise<Receipt>
  /** Calls any other path of the service, given without a leading slash, with the same retries. */
  readonly call: Attempt
  /** Submits and waits. Resubmits after a failure of the service, at most twice, unless the caller gave an idempotency key. */
  run(request: SubmissionRequest, options?: SubmitOptions): Promise<Result>
}

/** How often `run` submits again, in addition to the service's own attempts. */
const platformRetries = 2

/** Every method throws RunledgerError; `call` also throws a TypeError when its path leads to another service. */
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
        // Slows down when a service does not hold the request until the end.
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
        // The caller's idempotency key names this one submission, whatever its result, so it is not submitted again.
        const isOver = result.fault !== 'platform' || given.idempotencyKey !== undefined
        if (isOver || tried >= platformRetries) return result
      }
    },
  }
  return client
}

/** Returns the name of a blob: its SHA-256 in hexadecimal. */
export async function nameBlob(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
