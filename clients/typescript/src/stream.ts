// Reads a submission's events as they happen, over connections that may break.
import { isWorthAnother, RunledgerError } from './error.ts'
import type { Result, TestResult } from './result.ts'
import { backOff, pause } from './retry.ts'
import { describeSilence, parseAnswer } from './transport.ts'
import type { CallOptions, Send } from './transport.ts'

/** An event of a stream. When a worker is lost, its output is sent anew: after `status` with `queued`, offsets restart at 0. */
export type StreamEvent = { readonly position: string } & (
  | { readonly event: 'submitted'; readonly data: { readonly id: string } }
  | { readonly event: 'status'; readonly data: { readonly status: 'queued' | 'running' } }
  | { readonly event: 'compile'; readonly data: { readonly output: string } }
  | { readonly event: 'stdout' | 'stderr'; readonly data: StreamedOutput }
  | { readonly event: 'test'; readonly data: StreamedTest }
  | { readonly event: 'result'; readonly data: Result }
)

/** A piece of output. The offset counts bytes. The piece is base64 when the submission asked for it. */
export type StreamedOutput = { readonly offset: number } & (
  { readonly text: string } | { readonly base64: string }
)

export type StreamedTest = Omit<TestResult, 'stdout' | 'stderr'> & { readonly index: number }

export interface StreamOptions extends CallOptions {
  /** The position of an event: the stream starts after it. */
  readonly lastEventId?: string
}

/** The service sends something on a stream every 15 s. */
const longestSilenceMilliseconds = 45_000

/**
 * Yields all events after a position until the end. Reconnects when a connection breaks.
 * @param retries the most failed connections in a row.
 */
export async function* readStream(
  send: Send,
  retries: number,
  id: string,
  { lastEventId, signal }: StreamOptions,
): AsyncGenerator<StreamEvent, void> {
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
    // A connection that stayed open for a while without an event has not failed.
    const isVain = hasFailed || performance.now() - start < 1000
    failed = isVain && position === before ? failed + 1 : 0
    await pause(Math.max(asked, backOff(failed)), signal)
  }
}

/**
 * Opens one connection of a stream, with the caller's fetch. `Client.stream` also reconnects when it breaks.
 * @param ask sends the request with these headers. @param position of the last event that was received.
 * @returns null when nothing follows the position.
 * @throws {RunledgerError} when there is no stream. Its events throw one when the connection breaks.
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

/**
 * @param silence aborted when nothing arrives for too long, or when the reader stops.
 * @throws {RunledgerError} when the connection breaks.
 */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  silence: AbortController,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  // A long event comes in many pieces, which are joined once.
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
