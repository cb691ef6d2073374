// A client of the HTTP API for any JavaScript with fetch and WebCrypto. Imports nothing, so it can be copied.

/** Null: not known yet, or not to be known. Seconds, bytes, RFC 3339 in UTC. */
export interface Result {
  readonly id: string
  readonly status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
  readonly verdict: 'AC' | 'WA' | 'CE' | 'RE' | 'TLE' | 'MLE' | 'OLE' | 'IE' | null
  readonly exit_code: number | null
  readonly signal: string | null
  readonly stdout: string | null
  readonly stderr: string | null
  readonly stdout_truncated: boolean | null
  readonly stderr_truncated: boolean | null
  readonly compile_output: string | null
  readonly cpu_time: number | null
  readonly wall_time: number | null
  readonly memory_peak: number | null
  readonly language: string
  readonly runtime: string | null
  readonly created_at: string
  readonly started_at: string | null
  readonly finished_at: string | null
  /** Since when the outputs are null again: they are not kept for ever. */
  readonly purged_at: string | null
  /** What the compiler used; null for a language without one. `cached`: its program was kept from an earlier submission. */
  readonly compile: {
    readonly exit_code: number
    readonly cpu_time: number
    readonly wall_time: number
    readonly memory_peak: number
    readonly cached: boolean
  } | null
  /** The limit that ended the run. */
  readonly limit: ExceededLimit | null
  /** For WA: where the output is not what was expected. */
  readonly difference: Difference | null
  /** In the order of the request; null without tests. */
  readonly tests: readonly TestResult[] | null
  /** What the run has left of `output_files`; null when none were asked for, and when purged. */
  readonly files: readonly LeftFile[] | null
  readonly tag: string | null
  /** The first submission, if this is a rerun. */
  readonly rerun_of: string | null
  /** null without `webhook_url`. */
  readonly webhook: WebhookProgress | null
}

/** Content is base64, and null when it did not fit into 1 MiB beside those before it. */
export interface LeftFile {
  readonly name: string
  readonly size: number
  readonly sha256: string | null
  readonly content: string | null
}

export type ExceededLimit = 'cpu_time' | 'wall_time' | 'memory' | 'stdout' | 'stderr'

/** At most 200 characters of each line; null where there is none. */
export interface Difference {
  readonly line: number
  readonly expected: string | null
  readonly got: string | null
}

/** All but the name is null of a test that was not run. */
export interface TestResult {
  readonly name: string | null
  readonly verdict: 'AC' | 'WA' | 'RE' | 'TLE' | 'MLE' | 'OLE' | 'CE' | 'IE' | null
  readonly exit_code: number | null
  readonly signal: string | null
  readonly cpu_time: number | null
  readonly wall_time: number | null
  readonly memory_peak: number | null
  readonly stdout: string | null
  readonly stderr: string | null
  readonly stdout_truncated: boolean | null
  readonly stderr_truncated: boolean | null
  readonly limit: ExceededLimit | null
  readonly difference: Difference | null
  readonly message: string | null
}

export interface WebhookProgress {
  readonly id: string
  readonly state: 'waiting' | 'pending' | 'delivered' | 'abandoned'
  readonly attempts: number
  readonly next_attempt_at: string | null
}

/** A program to run. */
export interface SubmissionRequest {
  /** A name or alias from `GET /api/languages`. */
  readonly language: string
  readonly code: string
  readonly stdin?: string
  readonly expected_stdout?: string
  /** In their places: what `putBlob` resolved with. */
  readonly stdin_sha256?: string
  readonly expected_stdout_sha256?: string
  /** Beside the main file; those in the language itself are compiled with it. */
  readonly files?: readonly SubmittedFile[]
  readonly args?: readonly string[]
  readonly compile_args?: readonly string[]
  readonly limits?: Limits
  readonly compile_limits?: Limits
  /** Compiled once, run once for each. Not together with `stdin` or `expected_stdout`. */
  readonly tests?: readonly Test[]
  readonly stop_on_failure?: boolean
  readonly checker?: Checker
  readonly stdin_encoding?: 'utf8' | 'base64'
  readonly output_encoding?: 'utf8' | 'base64'
  /** Names of files that come back when the run has left them. Not together with `tests`. */
  readonly output_files?: readonly string[]
  /** low: it waits until no normal one does. */
  readonly priority?: 'normal' | 'low'
  readonly tag?: string
  readonly webhook_url?: string
  readonly webhook_secret?: string
}

export interface SubmittedFile {
  readonly name: string
  readonly content: string
  readonly encoding?: 'utf8' | 'base64'
}

/** Seconds, bytes and a count; what is left out is the language's default. */
export interface Limits {
  readonly cpu_time?: number
  readonly wall_time?: number
  readonly memory?: number
  readonly stdout?: number
  readonly stderr?: number
  readonly disk?: number
  readonly processes?: number
}

export interface Test {
  readonly name?: string
  readonly stdin?: string
  readonly expected_stdout?: string
  readonly stdin_sha256?: string
  readonly expected_stdout_sha256?: string
  readonly args?: readonly string[]
}

/** How an output is held against the expected one. */
export type Checker =
  | { readonly type: 'lines' | 'exact' | 'tokens' | 'unordered_lines' }
  | { readonly type: 'floats'; readonly absolute?: number; readonly relative?: number }
  | {
      readonly type: 'program'
      readonly language: string
      readonly code: string
      readonly compile_args?: readonly string[]
      readonly files?: readonly SubmittedFile[]
    }

export interface RequestIssue {
  readonly path: string
  readonly message: string
}

/** Accepted, or refused. */
export type BatchItem =
  | { readonly id: string }
  | { readonly error: string; readonly message: string; readonly issues: readonly RequestIssue[] }

/** A DSSE envelope; `payload` is base64 of JSON (`ReceiptPayload` of `/openapi.json`), signed by Ed25519. */
export interface Receipt {
  readonly payloadType: string
  readonly payload: string
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[]
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

export interface ClientOptions {
  /** Such as `https://runledger.example.com`; http only for this machine, as the key goes along. */
  readonly url: string
  readonly apiKey: string
  /** Tries after 429, 503 or no answer. Default 5. */
  readonly retries?: number
  readonly fetch?: typeof fetch
}

export interface CallOptions {
  readonly signal?: AbortSignal
}

export interface SubmitOptions extends CallOptions {
  /** A UUID; made up when left out, so that a retry never submits twice. */
  readonly idempotencyKey?: string
}

/** Of a stream. What was lost with its worker begins again: after `status` with `queued`, offsets begin at 0. */
export type StreamEvent = { readonly position: string } & (
  | { readonly event: 'submitted'; readonly data: { readonly id: string } }
  | { readonly event: 'status'; readonly data: { readonly status: 'queued' | 'running' } }
  | { readonly event: 'compile'; readonly data: { readonly output: string } }
  | { readonly event: 'stdout' | 'stderr'; readonly data: StreamedOutput }
  | { readonly event: 'test'; readonly data: StreamedTest }
  | { readonly event: 'result'; readonly data: Result }
)

/** The offset counts bytes; base64 when the submission asked for it. */
export type StreamedOutput = { readonly offset: number } & (
  { readonly text: string } | { readonly base64: string }
)

export type StreamedTest = Omit<TestResult, 'stdout' | 'stderr'> & { readonly index: number }

export interface StreamOptions extends CallOptions {
  /** The position of an event: only what follows it. */
  readonly lastEventId?: string
}

export interface Client {
  /** Resolves when the service has the submission on disk. */
  submit(request: SubmissionRequest, options?: SubmitOptions): Promise<{ readonly id: string }>
  /** Up to 20 at once; one element an item, in order. */
  submitBatch(requests: readonly SubmissionRequest[], options?: SubmitOptions): Promise<BatchItem[]>
  /** The result as it stands. */
  read(id: string, options?: CallOptions): Promise<Result>
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
  /** Submits and waits. */
  run(request: SubmissionRequest, options?: SubmitOptions): Promise<Result>
}

const shortestPauseMilliseconds = 250
const longestPauseMilliseconds = 5000
/** A stream says something every 15 s. */
const longestSilenceMilliseconds = 45_000

/** Every method throws RunledgerError. */
export function createClient(options: ClientOptions): Client {
  const { apiKey, retries = 5 } = options
  const send = createSender(parseServiceUrl(options.url), apiKey, options.fetch ?? fetch)
  const attempt = createAttempt(send)

  const call: Attempt = async (method, path, request = {}) => {
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
    async submit(body, given = {}) {
      const key = given.idempotencyKey ?? crypto.randomUUID()
      const { id } = (await call('POST', 'api/submit', { ...given, body, key })) as Result
      return { id }
    },
    async submitBatch(submissions, given = {}) {
      const key = given.idempotencyKey ?? crypto.randomUUID()
      const answer = await call('POST', 'api/submit/batch', {
        ...given,
        body: { submissions },
        key,
      })
      return (answer as { submissions: BatchItem[] }).submissions
    },
    read: (id, given) => read(id, '', given),
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
    async *stream(id, { lastEventId, signal } = {}) {
      const path = `api/result/${encodeURIComponent(id)}/stream`
      const ask: Parameters<typeof openStream>[0] = (headers, until) =>
        send('GET', path, headers, { signal: until })
      let position = lastEventId
      for (let failed = 0; ;) {
        const start = performance.now()
        const before = position
        let asked = 0
        let hasFailed = false
        try {
          const events = await openStream(ask, position, signal)
          if (events === null) return
          for await (const event of events) {
            position = event.position
            yield event
            if (event.event === 'result') return
          }
        } catch (error) {
          signal?.throwIfAborted()
          const isOurs = error instanceof RunledgerError
          const isEnough = failed >= retries && position === before
          if (!isOurs || !isWorthAnother(error) || isEnough) throw error
          asked = (error.retryAfterSeconds ?? 0) * 1000
          hasFailed = true
        }
        // A connection that was open for a while and told nothing has not failed.
        const isVain = hasFailed || performance.now() - start < 1000
        failed = isVain && position === before ? failed + 1 : 0
        await pause(Math.max(asked, backOff(failed)), signal)
      }
    },
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
    async run(request, given) {
      const { id } = await client.submit(request, given)
      return client.wait(id, given)
    },
  }
  return client
}

/** What a blob is called: its SHA-256 in hexadecimal. */
export async function nameBlob(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * With the final slash that paths need.
 * @throws {TypeError} when it is no URL, or would send the key in the clear.
 */
export function parseServiceUrl(text: string): URL {
  const url = new URL(text.endsWith('/') ? text : `${text}/`)
  const isOwnMachine = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isOwnMachine)) {
    throw new TypeError('the URL must be https: (http: only for this machine)')
  }
  return url
}

type Attempt = (
  method: 'GET' | 'HEAD' | 'POST' | 'PUT',
  path: string,
  request?: {
    /** Sent as JSON. */
    readonly body?: unknown
    /** Sent as they are. */
    readonly bytes?: Uint8Array<ArrayBuffer>
    readonly key?: string
    readonly signal?: AbortSignal
  },
) => Promise<unknown>

type Send = (
  method: 'GET' | 'HEAD' | 'POST' | 'PUT',
  path: string,
  headers: Readonly<Record<string, string>>,
  request: {
    readonly body?: string | Uint8Array<ArrayBuffer>
    readonly signal?: AbortSignal
  },
) => Promise<Response>

function createSender(root: URL, apiKey: string, send: typeof fetch): Send {
  return (method, path, headers, request) =>
    send(new URL(path, root), {
      method,
      redirect: 'manual', // the key is for this service only
      headers: { 'X-API-Key': apiKey, ...headers },
      ...request,
    })
}

function createAttempt(send: Send): Attempt {
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
      throw describeSilence(error, signal)
    }
    if (!response.ok || (answer === undefined && method !== 'HEAD')) {
      throw new RunledgerError(response.status, answer, response.headers.get('retry-after'))
    }
    return answer
  }
}

async function parseAnswer(response: Response): Promise<unknown> {
  const text = await response.text()
  return text.startsWith('{') ? JSON.parse(text) : undefined
}

/** @throws the signal's reason. */
function describeSilence(error: unknown, signal: AbortSignal | undefined): RunledgerError {
  signal?.throwIfAborted()
  const message = 'The service cannot be reached.'
  return new RunledgerError(0, { error: 'unreachable', message }, null, error)
}

/**
 * One connection of a stream, by a fetch of one's own; `Client.stream` is all that comes back when it breaks.
 * @param ask sends the request with these headers. @param position of the last event that was told.
 * @returns null when nothing follows the position.
 * @throws {RunledgerError} when there is no stream; its events do when the connection breaks.
 */
export async function openStream(
  ask: (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>,
  position: string | undefined,
  signal: AbortSignal | undefined,
): Promise<AsyncGenerator<StreamEvent, void> | null> {
  const silence = new AbortController()
  const headers = {
    Accept: 'text/event-stream',
    ...(position !== undefined && { 'Last-Event-ID': position }),
  }
  try {
    const response = await ask(
      headers,
      signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]),
    )
    if (response.status === 204) return null
    if (response.status === 200 && response.body !== null)
      return readEvents(response.body, silence, signal)
    const { status } = response
    const answer = await parseAnswer(response)
    throw new RunledgerError(status, answer, response.headers.get('retry-after'))
  } catch (error) {
    throw error instanceof RunledgerError ? error : describeSilence(error, signal)
  }
}

/** @param silence aborted when nothing comes for too long, or nobody reads on. @throws {RunledgerError} when the connection breaks. */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  silence: AbortController,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  // A long event comes in many pieces, which are put together once.
  let rest: string[] = []
  try {
    for (;;) {
      const timer = setTimeout(() => silence.abort(), longestSilenceMilliseconds)
      const { value, done } = await reader
        .read()
        .catch((error: unknown) => {
          throw describeSilence(error, signal)
        })
        .finally(() => clearTimeout(timer))
      if (done) return
      const text = decoder.decode(value, { stream: true })
      const isDivided = text.startsWith('\n') && rest.at(-1)?.endsWith('\n') === true
      rest.push(text)
      if (!isDivided && !text.includes('\n\n')) continue
      const blocks = rest.join('').split('\n\n')
      rest = blocks.splice(-1).filter((block) => block !== '')
      for (const block of blocks) {
        const event = parseEvent(block)
        if (event !== null) yield event
      }
    }
  } finally {
    silence.abort()
  }
}

/** @returns null for a comment. */
function parseEvent(block: string): StreamEvent | null {
  const read = (name: string): string | undefined =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  const data = read('data')
  if (data === undefined) return null
  const position = read('id') ?? ''
  return { position, event: read('event'), data: JSON.parse(data) as unknown } as StreamEvent
}

function isWorthAnother({ status, id }: RunledgerError): boolean {
  return [0, 408, 429, 502, 503, 504].includes(status) && id === undefined
}

// A fifth more or less, so that clients that failed together come apart.
function backOff(tried: number): number {
  const exact = Math.min(shortestPauseMilliseconds * 2 ** tried, longestPauseMilliseconds)
  return exact * (0.8 + Math.random() * 0.4)
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, milliseconds)
    if (signal?.aborted === true) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

export interface ReceivedWebhook {
  /** fetch's Headers or Node's, names in lower case. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** Exactly as received, before any parsing. */
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly secret: string
  /** Unix time in seconds; now when left out. */
  readonly now?: number
}

export interface WebhookPayload {
  readonly type: 'submission.completed' | 'submission.failed' | 'submission.cancelled'
  readonly timestamp: string
  readonly data: Omit<Result, 'webhook'>
}

const toleranceSeconds = 300

/** The payload if the secret signed it within five minutes of now (Standard Webhooks 1.0), else null. */
export async function verifyWebhook(received: ReceivedWebhook): Promise<WebhookPayload | null> {
  const { headers, secret, now = Date.now() / 1000 } = received
  const header = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    return typeof value === 'string' ? value : ''
  }
  const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')]
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) return null
  if (Math.abs(now - Number(timestamp)) > toleranceSeconds) return null

  const encoder = new TextEncoder()
  const body = typeof received.body === 'string' ? encoder.encode(received.body) : received.body
  const signed = await new Blob([`${id}.${timestamp}.`, body]).arrayBuffer()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', keyOf(secret), algorithm, false, ['sign'])
  // Signed once, as a header may hold hundreds of signatures.
  const expected = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed))
  const isSigned = header('webhook-signature')
    .split(' ')
    .map((entry) => /^v1,([A-Za-z0-9+/]{43}=)$/.exec(entry)?.[1])
    .some((encoded) => encoded !== undefined && isSame(decodeBase64(encoded), expected))
  return isSigned ? (JSON.parse(new TextDecoder().decode(body)) as WebhookPayload) : null
}

/** Compares in constant time. */
function isSame(given: Uint8Array, expected: Uint8Array): boolean {
  return given.reduce((all, byte, index) => all | (byte ^ (expected[index] ?? 0)), 0) === 0
}

// `whsec_` + base64 stands for its bytes, other text for its UTF-8.
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = /^whsec_([A-Za-z0-9+/]+)={0,2}$/.exec(secret)?.[1]
  if (encoded === undefined || encoded.length % 4 === 1) return new TextEncoder().encode(secret)
  return decodeBase64(encoded)
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
