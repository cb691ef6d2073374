// Signs and verifies as Standard Webhooks 1.0 says. Needs only node:crypto, so that receivers can copy this file. The
// published package (standardwebhooks 1.1.1, compared in the test) signs decoded text, not every body's bytes, and
// hashes in JavaScript.
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
import { createHmac, timingSafeEqual } from 'node:crypto'

/** From the receiver's clock, either way: 5 minutes, as in the published libraries. */
export const toleranceSeconds = 300

export interface SignedContent {
  /** The same on every attempt; without a full stop. */
  readonly id: string
  /** Unix time of this attempt, in whole seconds. */
  readonly timestamp: number
  readonly body: Uint8Array
  /** `whsec_` + base64 stands for the decoded bytes; any other text for its UTF-8 bytes. */
  readonly secret: string
}

export interface SignatureHeaders {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  /** `v1,` and the base64 of HMAC-SHA256 over `${id}.${timestamp}.${body}`. */
  readonly 'webhook-signature': string
}

export function signDelivery({ id, timestamp, body, secret }: SignedContent): SignatureHeaders {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${digest(id, String(timestamp), body, secret).toString('base64')}`,
  }
}

export interface ReceivedDelivery {
  /** Names in lower case, as Node gives them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The exact bytes received, before any parsing. */
  readonly body: Uint8Array
  readonly secret: string
  /** Unix time in seconds; now when left out. */
  readonly now?: number
}

/**
 * True when the secret signed the delivery within five minutes of now. One match among several signatures is enough, as
 * during a change of secret. Compares in constant time.
 */
export function verifyDelivery({ headers, body, secret, now }: ReceivedDelivery): boolean {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') {
    return false
  }
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs((now ?? Date.now() / 1000) - Number(timestamp)) > toleranceSeconds) return false
  // Compared as text: decoding base64 would accept spellings that nobody signed.
  const expected = Buffer.from(digest(id, timestamp, body, secret).toString('base64'))
  let matches = 0
  for (const entry of signatures.split(' ')) {
    if (!entry.startsWith('v1,')) continue
    const given = Buffer.from(entry.slice(3))
    if (given.length === expected.length && timingSafeEqual(given, expected)) matches += 1
  }
  return matches > 0
}

function digest(id: string, timestamp: string, body: Uint8Array, secret: string): Buffer {
  return createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest()
}

/** Padding may be missing; `whsec_` before anything but base64 is part of a text secret. */
function keyOf(secret: string): Buffer {
  const encoded = /^whsec_([A-Za-z0-9+/]+)={0,2}$/.exec(secret)?.[1]
  if (encoded === undefined || encoded.length % 4 === 1) return Buffer.from(secret, 'utf8')
  return Buffer.from(encoded, 'base64')
}
