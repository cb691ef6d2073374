// The form of an API key: rl_live_ + 33 characters of 192 random bits + 6 of a checksum, in base 62. The checksum lets a
// secret scanner, and us, tell a mistyped key from a stranger's without asking the database.
import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefix = 'rl_live_'
const form = /^rl_live_[0-9A-Za-z]{33}[0-9A-Za-z]{6}$/

/** Makes a new key. Show it once; store only its digest. */
export function generateKey(): string {
  const secret = encode(BigInt(`0x${randomBytes(24).toString('hex')}`), 33)
  return `${prefix}${secret}${checksum(secret)}`
}

/** True for a text of a key's form whose checksum fits. */
export function isWellFormedKey(text: string): boolean {
  return form.test(text) && checksum(text.slice(prefix.length, -6)) === text.slice(-6)
}

/** What is stored of a key: SHA-256. A key has 192 random bits, so that no slow hash is needed. */
export function digestKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** The first characters of a key, for people to tell keys apart: 24 of its 192 random bits. */
export function labelKey(key: string): string {
  return key.slice(0, prefix.length + 4)
}

function checksum(secret: string): string {
  return encode(BigInt(crc32(secret)), 6)
}

function encode(number: bigint, length: number): string {
  let text = ''
  for (let rest = number; text.length < length; rest /= 62n)
    text = alphabet.charAt(Number(rest % 62n)) + text
  return text
}
