// Opens a receipt that anybody may have written. Its content is not trusted before its signature is verified.
import { verify } from 'node:crypto'
import * as v from 'valibot'
import { encodeSigned, envelopeSchema } from './envelope.ts'
import type { VerifyingKey } from './key.ts'
import { receiptSchema } from './payload.ts'
import type { Receipt } from './payload.ts'

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
