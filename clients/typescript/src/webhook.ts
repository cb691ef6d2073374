// Verifies that a webhook comes from the service, by the signature of Standard Webhooks 1.0.
import type { Result } from './result.ts'

export interface ReceivedWebhook {
  /** The Headers of fetch, or Node's headers with names in lower case. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** Exactly as received, before any parsing. */
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly secret: string
  /** Unix time in seconds; the current time when left out. */
  readonly now?: number
}

export type WebhookPayload =
  | {
      readonly type: 'submission.completed' | 'submission.failed' | 'submission.cancelled'
      readonly timestamp: string
      readonly data: Omit<
        Result,
        'webhook' | 'limits' | 'message' | 'attempt' | 'cancel_requested_at'
      >
    }
  | {
      readonly type: 'batch.completed'
      readonly timestamp: string
      /** The accepted items, in their order. */
      readonly data: {
        readonly id: string
        readonly submissions: readonly Pick<Result, 'id' | 'status' | 'verdict'>[]
      }
    }

const toleranceSeconds = 300

/** Returns the payload if the secret signed it within five minutes of now (Standard Webhooks 1.0), otherwise null. */
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
  // Computed once, because a header may hold hundreds of signatures.
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

// `whsec_` + base64 is decoded; any other text is used as UTF-8.
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = /^whsec_([A-Za-z0-9+/]+)={0,2}$/.exec(secret)?.[1]
  if (encoded === undefined || encoded.length % 4 === 1) return new TextEncoder().encode(secret)
  return decodeBase64(encoded)
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
