// Ed25519 keys. A key's id is the SHA-256 of its SubjectPublicKeyInfo, as `openssl pkey -pubout -outform DER` writes it.
import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

export interface VerifyingKey {
  /** Hexadecimal. */
  readonly id: string
  readonly publicKey: KeyObject
}

export interface SigningKey extends VerifyingKey {
  readonly privateKey: KeyObject
}

/** What is wrong with a text that is no such key; it never says anything of the text. */
const noSigningKey =
  'is no private Ed25519 key in PKCS#8, as PEM or as base64 of its DER: `openssl genpkey -algorithm ed25519` makes one'

/**
 * @param text PKCS#8, as PEM or as base64 of its DER.
 * @throws {TypeError} a sentence without its subject, and without anything of the text.
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

/** Every public Ed25519 key of a text in PEM, so that a file keeps those of former times too; others are left out. */
export function readPublicKeys(pem: string): VerifyingKey[] {
  const [, ...blocks] = pem.split(begin('PUBLIC KEY'))
  return blocks.flatMap((block) => {
    try {
      const key = `${begin('PUBLIC KEY')}${block.split(end('PUBLIC KEY'))[0]}${end('PUBLIC KEY')}\n`
      const publicKey = createPublicKey(key)
      return publicKey.asymmetricKeyType === 'ed25519' ? [describeKey(publicKey)] : []
    } catch {
      return []
    }
  })
}

function describeKey(publicKey: KeyObject): VerifyingKey {
  const der = publicKey.export({ format: 'der', type: 'spki' })
  return { id: createHash('sha256').update(der).digest('hex'), publicKey }
}

/** Exactly one block of PEM, or bare base64; a private key of another kind or an encrypted one is none. */
function toDer(text: string): Buffer {
  const [head, tail] = [begin('PRIVATE KEY'), end('PRIVATE KEY')]
  const trimmed = text.trim()
  const isPem = trimmed.startsWith(head) && trimmed.endsWith(tail)
  const base64 = (isPem ? trimmed.slice(head.length, -tail.length) : trimmed).replace(/\s/g, '')
  const der = Buffer.from(base64, 'base64')
  // Node passes over what is no base64.
  if (der.toString('base64') !== base64) throw new TypeError(noSigningKey)
  return der
}

function begin(label: string): string {
  return `-----BEGIN ${label}-----`
}

function end(label: string): string {
  return `-----END ${label}-----`
}
