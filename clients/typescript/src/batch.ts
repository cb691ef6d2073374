// Reads the items of a batch as they end, over connections that may break.
import { isWorthAnother, RunledgerError } from './error.ts'
import type { RequestIssue } from './error.ts'
import type { SubmissionRequest } from './request.ts'
import type { Result } from './result.ts'
import { backOff, pause } from './retry.ts'
import { describeSilence, parseAnswer } from './transport.ts'
import type { CallOptions, Send } from './transport.ts'

export interface SubmitOptions extends CallOptions {
  /** A UUID. Made up when left out, so that a retry never submits twice. */
  readonly idempotencyKey?: string
}

export interface BatchOptions extends SubmitOptions {
  /** Receives one webhook when the whole batch has ended. Needs `webhookSecret`. */
  readonly webhookUrl?: string
  readonly webhookSecret?: string
}

/** An item that was not accepted. */
export interface RefusedItem {
  readonly error: string
  readonly message: string
  readonly fault: RunledgerError['fault']
  readonly retry: RunledgerError['retry']
  readonly issues: readonly RequestIssue[]
}

/** An item's index in the batch, from 0, with its result or the reason why it was refused. */
export type EndedItem = { readonly index: number } & (Result | RefusedItem)

export function describeBatch(
  submissions: readonly SubmissionRequest[],
  { webhookUrl, webhookSecret }: BatchOptions,
): object {
  // JSON leaves out undefined fields.
  return { submissions, webhook_url: webhookUrl, webhook_secret: webhookSecret }
}

/**
 * Yields each item once, in the order in which they end. Reconnects when a connection breaks.
 * @param retries the most failed connections in a row.
 */
export async function* readBatch(
  send: Send,
  retries: number,
  submissions: readonly SubmissionRequest[],
  { idempotencyKey = crypto.randomUUID(), signal, ...webhook }: BatchOptions,
): AsyncGenerator<EndedItem, void> {
  const body = JSON.stringify(describeBatch(submissions, webhook))
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/x-ndjson',
    'Idempotency-Key': idempotencyKey,
  }
  const have = new Set<number>()
  for (let failed = 0; have.size < submissions.length;) {
    const before = have.size
    let asked = 0
    try {
      const query = have.size === 0 ? '' : `?have=${describeRanges(have)}`
      const response = await send('POST', `api/submit/batch${query}`, headers, {
        body,
        ...(signal !== undefined && { signal }),
      })
      if (response.status !== 200 || response.body === null) {
        const answer = await parseAnswer(response)
        throw new RunledgerError(response.status, answer, response.headers.get('retry-after'))
      }
      for await (const item of readLines(response.body, signal)) {
        have.add(item.index)
        yield item
      }
    } catch (error) {
      signal?.throwIfAborted()
      const isEnough = failed >= retries && have.size === before
      if (!(error instanceof RunledgerError) || !isWorthAnother(error) || isEnough) throw error
      asked = (error.retryAfterSeconds ?? 0) * 1000
    }
    if (have.size === submissions.length) return
    failed = have.size === before ? failed + 1 : 0
    await pause(Math.max(asked, backOff(failed)), signal)
  }
}

/** @throws {RunledgerError} when the connection breaks. */
async function* readLines(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<EndedItem, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  // A long line comes in many pieces, which are joined once.
  let rest: string[] = []
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((error: unknown) => {
        throw describeSilence(error, signal)
      })
      if (done) return
      const text = decoder.decode(value, { stream: true })
      rest.push(text)
      if (!text.includes('\n')) continue
      const lines = rest.join('').split('\n')
      rest = lines.splice(-1)
      for (const line of lines) yield JSON.parse(line) as EndedItem
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Describes numbers as ranges, such as `0-4,9`. */
function describeRanges(numbers: ReadonlySet<number>): string {
  const ranges: [number, number][] = []
  for (let n = 0; n <= Math.max(...numbers); n += 1) {
    if (!numbers.has(n)) continue
    const last = ranges.at(-1)
    if (last?.[1] === n - 1) last[1] = n
    else ranges.push([n, n])
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(',')
}
