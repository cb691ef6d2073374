// API keys: rl_live_, 192 random bits in 33 base-62 characters, a checksum in 6. By it secret scanners and the service
// recognise a mistyped key. Operators' begin with rl_oper_: whoever sees one knows what it is, and what takes submissions
// refuses it by its form alone, in a process of any release. Random bits begin with 0, 1 or 2, so a letter in that place can
// name the key's cell (docs/cells.md), and 190 random bits follow.
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

/** A letter that names a cell: a database of its own among several behind one router. */
export function isCell(text: string): boolean {
  return /^[A-Za-z]$/.test(text)
}

/** The cell in a key or its label; undefined: it names none. */
export function findCell(label: string): string | undefined {
  const first = label.charAt(prefixes.submit.length)
  return isCell(first) ? first : undefined
}

/** Show it once; store only its digest. @param cell as `isCell` says. */
export function generateKey(role: Role = 'submit', cell?: string): string {
  const bits = BigInt(`0x${randomBytes(24).toString('hex')}`)
  const secret = cell === undefined ? encode(bits, 33) : cell + encode(bits >> 2n, 32)
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

/** By which people distinguish keys: its first four characters, some 19 of the random bits. */
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
