// API keys: rl_live_, 192 random bits in 33 base-62 characters, and a checksum in 6. Secret scanners and the service
// recognise a mistyped key by its checksum. An operator's key begins with rl_oper_, so that readers know what it is, and so
// that the intake of any release refuses it by its form alone. Random bits begin with 0, 1 or 2, so a letter in that position
// can name the key's cell (docs/cells.md); 190 random bits follow the letter.
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefixes = { submit: 'rl_live_', operator: 'rl_oper_' } as const
/** What follows the prefix. */
const form = /^[0-9A-Za-z]{39}$/

/** What a key is for: the submissions of its account, or the operation of the service. */
export type Role = keyof typeof prefixes

/** The most characters of a key's name. */
export const keyNameMost = 64

/** Whether a key may have this name: one line of visible text that does not begin like a key. */
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

/** True for a letter, which names a cell: one of several databases behind one router. */
export function isCell(text: string): boolean {
  return /^[A-Za-z]$/.test(text)
}

/** Returns the cell that a key or its label names; undefined when it names none. */
export function findCell(label: string): string | undefined {
  const first = label.charAt(prefixes.submit.length)
  return isCell(first) ? first : undefined
}

/** Generates a key. Show it once, and store only its digest. @param cell must pass `isCell`. */
export function generateKey(role: Role = 'submit', cell?: string): string {
  const bits = BigInt(`0x${randomBytes(24).toString('hex')}`)
  const secret = cell === undefined ? encode(bits, 33) : cell + encode(bits >> 2n, 32)
  return `${prefixes[role]}${secret}${checksum(secret)}`
}

/** Checks a key's form and checksum. */
export function isWellFormedKey(text: string, role: Role = 'submit'): boolean {
  if (!text.startsWith(prefixes[role])) return false
  const rest = text.slice(prefixes[role].length)
  return form.test(rest) && checksum(rest.slice(0, -6)) === rest.slice(-6)
}

/** Returns the SHA-256 of a key. 192 random bits need no slow hash. */
export function digestKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** Returns the label by which people distinguish keys: the prefix and four characters, some 19 of the random bits. */
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
