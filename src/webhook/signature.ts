// Signs deliveries by Standard Webhooks 1.0; clients/typescript verifies. The published package (standardwebhooks 1.1.1,
// compared in the test) signs decoded text, so it cannot sign every body's bytes, and it hashes in JavaScript.
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
import { createHmac } from 'node:crypto'

interface SignedContent {
  /** The same on every attempt; without a full stop. */
  readonly id: string
  /** Unix time of this attempt, in whole seconds. */
  readonly timestamp: number
  readonly body: Uint8Array
  /** `whsec_` + base64 means the decoded bytes; any other text means its UTF-8 bytes. */
  readonly secret: string
}

interface SignatureHeaders {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  /** `v1,` and the base64 of HMAC-SHA256 over `${id}.${timestamp}.${body}`. */
  readonly 'webhook-signature': string
}

export function signDelivery({ id, timestamp, body, secret }: SignedContent): SignatureHeaders {
  const hmac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${hmac.digest('base64')}`,
  }
}

/** Returns the key's bytes. Padding may be missing; `whsec_` before anything but base64 is part of a text secret. */
function keyOf(secret: string): Buffer {
  const encoded = /^whsec_([A-Za-z0-9+/]+)={0,2}$/.exec(secret)?.[1]
  if (encoded === undefined || encoded.length % 4 === 1) return Buffer.from(secret, 'utf8')
  return Buffer.from(encoded, 'base64')
}
