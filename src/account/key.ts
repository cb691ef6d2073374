// API keys: rl_live_, 192 random bits in 33 base-62 characters, a checksum in 6. By it secret scanners and the service
// recognise a mistyped key. Operators' begin with rl_oper_: whoever sees one knows what it is, and what takes submissions
// refuses it by its form alone, in a process of any release.
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefixes = { submit: 'rl_live_', operator: 'rl_oper_' } as const
const forms = {
  submit: /^rl_live_[0-9A-Za-z]{33}[0-9A-Za-z]{6}$/,
  operator: /^rl_oper_[0-9A-Za-z]{33}[0-9A-Za-z]{6}$/,
} as const

/** What a key is for: its account's submissions, or the service itself. */
export type Role = keyof typeof prefixes

/** Characters of a key's name. */
export const keyNameMost = 64

/** Whether a key may be called so: a line that can be seen, and is no key itself. */
export function isKeyName(text: string): boolean {
  return (
    text.length > 0 &&
    text.length <= keyNameMost &&
    text.trim() === text &&
    text.isWellFormed() &&
    !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text) &&
    !Object.values(prefixes).some((prefix) => text.startsWith(prefix))
  )
}

/** Show it once; store only its digest. */
export function generateKey(role: Role = 'submit'): string {
  const secret = encode(BigInt(`0x${randomBytes(24).toString('hex')}`), 33)
  return `${prefixes[role]}${secret}${checksum(secret)}`
}

/** Checks form and checksum. */
export function isWellFormedKey(text: string, role: Role = 'submit'): boolean {
  const { length } = prefixes[role]
  return forms[role].test(text) && checksum(text.slice(length, -6)) === text.slice(-6)
}

/** SHA-256: for 192 random bits no slow hash is needed. */
export function digestKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** By which people distinguish keys: 24 of the 192 random bits. */
export function labelKey(key: string): string {
  return key.slice(0, prefixes.submit.length + 4)
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
