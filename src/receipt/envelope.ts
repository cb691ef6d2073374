// The DSSE envelope of a receipt: seals a receipt, and opens one that anybody may have written, whose content is not trusted
// before its signature is verified. DSSE's encoding is one line, so no package is used for it: the packages that implement
// DSSE also bring X.509 and protocol buffers.
import { sign, verify } from 'node:crypto'
import * as v from 'valibot'
import { described } from '#schema'
import type { SigningKey, VerifyingKey } from './key.ts'
import { receiptSchema } from './payload.ts'
import type { Receipt } from './payload.ts'

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

/** The result of opening a receipt. `unsigned`: the caller gave no keys, so anybody may have written the receipt. */
export type Opened =
  | {
      readonly kind: 'signed'
      readonly keyId: string
      readonly bytes: Buffer
      readonly receipt: Receipt
    }
  | { readonly kind: 'unsigned'; readonly bytes: Buffer; readonly receipt: Receipt }
  /** The text is not the envelope of a receipt. */
  | { readonly kind: 'malformed' }
  /** The envelope names none of the given keys. */
  | { readonly kind: 'other_key' }
  /** The envelope names a given key, but the signature does not match this content. */
  | { readonly kind: 'altered'; readonly keyId: string }

/**
 * Opens a receipt's envelope and verifies its signature.
 * @param keys null: the signature is not verified.
 */
export function openEnvelope(text: string, keys: readonly VerifyingKey[] | null): Opened {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), envelopeSchema), text)
  if (!parsed.success) return { kind: 'malformed' }
  const { payload, signatures } = parsed.output
  const bytes = Buffer.from(payload, 'base64')
  let keyId: string | null = null
  if (keys !== null) {
    const named = keys.filter(({ id }) => signatures.some(({ keyid }) => keyid === id))
    const [first] = named
    if (first === undefined) return { kind: 'other_key' }
    const signed = encodeSigned(bytes)
    const signer = named.find(({ id, publicKey }) =>
      signatures.some(
        ({ keyid, sig }) =>
          keyid === id && verify(null, signed, publicKey, Buffer.from(sig, 'base64')),
      ),
    )
    if (signer === undefined) return { kind: 'altered', keyId: first.id }
    keyId = signer.id
  }
  const receipt = v.safeParse(v.pipe(v.string(), v.parseJson(), receiptSchema), bytes.toString())
  if (!receipt.success) return { kind: 'malformed' }
  return keyId === null
    ? { kind: 'unsigned', bytes, receipt: receipt.output }
    : { kind: 'signed', keyId, bytes, receipt: receipt.output }
}

/** Returns the bytes that are signed (DSSE's PAE). They include the payload type, so that nothing else passes for a receipt. */
function encodeSigned(payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.byteLength} `
  return Buffer.concat([Buffer.from(head), payload])
}
