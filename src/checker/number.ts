// Reads a token as a number, in time linear in its length.
import type { Range } from './line.ts'

const [plus, minus, point, zero, nine, upperE, lowerE] = [
  0x2b, 0x2d, 0x2e, 0x30, 0x39, 0x45, 0x65,
] as const
/**
 * Whole numbers of this many digits, and powers of ten up to this exponent, are exact in a double. Their quotient is rounded
 * only once.
 */
const exactDigits = 15
const powersOfTen = Array.from({ length: exactDigits + 1 }, (_, exponent) => 10 ** exponent)

const words = new Map([
  ['inf', Infinity],
  ['infinity', Infinity],
  ['nan', NaN],
])
const longestWord = 8

/**
 * Returns the nearest double of a decimal number, such as `-1`, `+.5`, `1.` or `1e-9`, and the value of `inf`, `infinity` and
 * `nan` in any case and with any sign. Null for all other tokens, and for a decimal number that is too large for a double: as
 * Infinity it would equal every other such number.
 */
export function parseNumber({ bytes, start, end }: Range): number | null {
  const sign = bytes[start]
  const from = sign === plus || sign === minus ? start + 1 : start
  const magnitude = parseMagnitude(bytes, from, end)
  return magnitude !== null && sign === minus ? -magnitude : magnitude
}

function parseMagnitude(bytes: Uint8Array, start: number, end: number): number | null {
  const wholeEnd = skipDigits(bytes, start, end)
  const hasPoint = wholeEnd < end && bytes[wholeEnd] === point
  const digitsEnd = hasPoint ? skipDigits(bytes, wholeEnd + 1, end) : wholeEnd
  const digits = digitsEnd - start - (hasPoint ? 1 : 0)
  if (digits === 0) return parseWord(bytes, start, end)
  if (digitsEnd === end && digits <= exactDigits) {
    return sumDigits(bytes, start, end) / (powersOfTen[hasPoint ? end - wholeEnd - 1 : 0] ?? 1)
  }
  if (digitsEnd < end && !isExponent(bytes, digitsEnd, end)) return null
  const value = Number(textOf(bytes, start, end))
  return Number.isFinite(value) ? value : null
}

/** Returns whether the bytes are an exponent: `e`, an optional sign, digits. */
function isExponent(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== lowerE && bytes[start] !== upperE) return false
  const sign = bytes[start + 1]
  const from = sign === plus || sign === minus ? start + 2 : start + 1
  return from < end && skipDigits(bytes, from, end) === end
}

function parseWord(bytes: Uint8Array, start: number, end: number): number | null {
  if (end - start > longestWord) return null
  return words.get(textOf(bytes, start, end).toLowerCase()) ?? null
}

function skipDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && isDigit(bytes[at])) at += 1
  return at
}

/** Returns the digits as one whole number; skips other bytes. */
function sumDigits(bytes: Uint8Array, start: number, end: number): number {
  let sum = 0
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0
    if (isDigit(byte)) sum = sum * 10 + byte - zero
  }
  return sum
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}
