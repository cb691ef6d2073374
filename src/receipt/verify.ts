// Opens a receipt that anybody may have written: nothing of it is believed before its signature.
import { verify } from 'node:crypto'
import * as v from 'valibot'
import { encodeSigned, envelopeSchema } from './envelope.ts'
import type { VerifyingKey } from './key.ts'
import { receiptSchema } from './payload.ts'
import type { Receipt } from './payload.ts'

/** What became of it; `unsigned`: no key was given, so that anybody may have written it. */
export type Opened =
  | {
      readonly kind: 'signed'
      readonly keyId: string
      readonly bytes: Buffer
      readonly receipt: Receipt
    }
  | { readonly kind: 'unsigned'; readonly bytes: Buffer; readonly receipt: Receipt }
  /** No envelope of a receipt. */
  | { readonly kind: 'malformed' }
  /** It names other keys than those that were given. */
  | { readonly kind: 'other_key' }
  /** A key that was given is named, and has not signed this. */
  | { readonly kind: 'altered'; readonly keyId: string }

/** @param keys null: its signature is not looked at. */
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
