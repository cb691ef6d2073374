// Ed25519 keys. A key's id is the SHA-256 of its SubjectPublicKeyInfo, as `openssl pkey -pubout -outform DER` writes it.
import { createPrivateKey, createPublicKey, hash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

export interface VerifyingKey {
  /** Hexadecimal. */
  readonly id: string
  readonly publicKey: KeyObject
}

export interface SigningKey extends VerifyingKey {
  readonly privateKey: KeyObject
}

/** The error message for a text that is not a signing key. It never repeats any part of the text, which may be secret. */
const noSigningKey =
  'is no private Ed25519 key in PKCS#8, as PEM or as base64 of its DER: `openssl genpkey -algorithm ed25519` makes one'

/**
 * Reads a private Ed25519 key.
 * @param text PKCS#8, as PEM or as base64 of its DER.
 * @throws {TypeError} whose message is a sentence without its subject and repeats no part of the text.
 */
export function readSigningKey(text: string): SigningKey {
  let privateKey: KeyObject
  try {
    privateKey = createPrivateKey({ key: toDer(text), format: 'der', type: 'pkcs8' })
  } catch {
    throw new TypeError(noSigningKey)
  }
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new TypeError(noSigningKey)
  return { ...describeKey(createPublicKey(privateKey)), privateKey }
}

/** Returns every public Ed25519 key of a PEM text, so that one file can also hold former keys. Skips all other keys. */
export function readPublicKeys(pem: string): VerifyingKey[] {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----/g) ?? []
  return blocks.flatMap((block) => {
    try {
      const publicKey = createPublicKey(block)
      return publicKey.asymmetricKeyType === 'ed25519' ? [describeKey(publicKey)] : []
    } catch {
      return []
    }
  })
}

function describeKey(publicKey: KeyObject): VerifyingKey {
  const der = publicKey.export({ format: 'der', type: 'spki' })
  return { id: hash('sha256', der, 'hex'), publicKey }
}

/** Decodes exactly one PEM block or bare base64. Rejects encrypted keys and PEM labels other than PRIVATE KEY. */
function toDer(text: string): Buffer {
  const pem = /^-----BEGIN PRIVATE KEY-----([^-]*)-----END PRIVATE KEY-----$/.exec(text.trim())
  const base64 = (pem?.[1] ?? text).replace(/\s/g, '')
  const der = Buffer.from(base64, 'base64')
  // Buffer.from ignores characters that are not base64, so the result is encoded again and compared.
  if (der.toString('base64') !== base64) throw new TypeError(noSigningKey)
  return der
}
