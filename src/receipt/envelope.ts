// The DSSE envelope of a receipt. DSSE's encoding is one line, so no package is used for it: the packages that implement
// DSSE also bring X.509 and protocol buffers.
import { sign } from 'node:crypto'
import * as v from 'valibot'
import { described } from '#schema'
import type { SigningKey } from './key.ts'

const payloadType = 'application/vnd.runledger.receipt+json'

const base64 = v.pipe(v.string(), v.base64())

export const envelopeSchema = v.object({
  payloadType: v.literal(payloadType),
  payload: described(base64, 'A ReceiptPayload, as JSON.'),
  signatures: v.pipe(
    v.array(
      v.object({
        keyid: described(
          v.string(),
          "SHA-256 of the public key's SubjectPublicKeyInfo, hexadecimal.",
        ),
        sig: described(base64, 'The Ed25519 signature.'),
      }),
    ),
    v.minLength(1),
    v.maxLength(16),
  ),
})

export type Envelope = v.InferOutput<typeof envelopeSchema>

export function seal(payload: Uint8Array, key: SigningKey): Envelope {
  const sig = sign(null, encodeSigned(payload), key.privateKey)
  return {
    payloadType,
    payload: Buffer.from(payload).toString('base64'),
    signatures: [{ keyid: key.id, sig: sig.toString('base64') }],
  }
}

/** Returns the bytes that are signed (DSSE's PAE). They include the payload type, so that nothing else passes for a receipt. */
export function encodeSigned(payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.byteLength} `
  return Buffer.concat([Buffer.from(head), payload])
}
