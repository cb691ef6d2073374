// Reads an output token by token, and compares tokens: the checkers `tokens` and `floats`. A token is a run of bytes without
// white space.
import { areSame, differAt, isBlank, newline, same } from './line.ts'
import type { Judgement, Line, Range } from './line.ts'
import { parseNumber } from './number.ts'

/** Tolerances, finite and not negative; a missing one is 0. */
export interface Tolerances {
  readonly absolute?: number | undefined
  /** Fraction of the expected number's magnitude. */
  readonly relative?: number | undefined
}

interface TokenCursor extends Range {
  start: number
  end: number
  /** Number of the token's line, from 1, and the start of that line. */
  line: number
  lineStart: number
}

/** Compares tokens. Ignores the amount and kind of white space between, before and after them. */
export function checkTokens(output: Uint8Array, expected: Uint8Array): Judgement {
  return compareTokens(output, expected, areSame)
}

/**
 * Compares tokens. Two numbers match when either tolerance admits their distance, computed in doubles. Tokens that are not both
 * numbers match when they are the same.
 */
export function checkFloats(
  output: Uint8Array,
  expected: Uint8Array,
  { absolute = 0, relative = 0 }: Tolerances,
): Judgement {
  return compareTokens(output, expected, (wanted, got) => {
    if (areSame(wanted, got)) return true
    const wantedNumber = parseNumber(wanted)
    if (wantedNumber === null) return false
    const gotNumber = parseNumber(got)
    return gotNumber !== null && isNear(wantedNumber, gotNumber, absolute, relative)
  })
}

function isNear(expected: number, got: number, absolute: number, relative: number): boolean {
  if (Number.isNaN(expected)) return Number.isNaN(got)
  // An infinite number matches only itself. The relative tolerance of an infinite number would be infinite and admit
  // everything.
  if (!Number.isFinite(expected) || !Number.isFinite(got)) return expected === got
  const distance = Math.abs(expected - got)
  if (distance <= absolute) return true
  if (Number.isFinite(distance)) return distance <= relative * Math.abs(expected)
  // The distance exceeds the largest double. The halves of both numbers do not.
  return Math.abs(expected / 2 - got / 2) <= relative * Math.abs(expected / 2)
}

/** Compares two outputs: they are the same when they have equally many tokens and each pair matches. */
function compareTokens(
  output: Uint8Array,
  expected: Uint8Array,
  matches: (expected: Range, got: Range) => boolean,
): Judgement {
  const wanted = beginTokens(expected)
  const got = beginTokens(output)
  for (;;) {
    const isExpected = nextToken(wanted)
    const isGot = nextToken(got)
    if (!isExpected && !isGot) return same
    if (!isExpected || !isGot || !matches(wanted, got)) {
      return differAt(isExpected ? lineOf(wanted) : null, isGot ? lineOf(got) : null)
    }
  }
}

function beginTokens(bytes: Uint8Array): TokenCursor {
  return { bytes, start: 0, end: 0, line: 1, lineStart: 0 }
}

/** Moves to the next token. False when there is none. */
function nextToken(cursor: TokenCursor): boolean {
  const { bytes } = cursor
  let at = cursor.end
  while (at < bytes.length && isSpace(bytes[at])) {
    at += 1
    if (bytes[at - 1] === newline) {
      cursor.line += 1
      cursor.lineStart = at
    }
  }
  cursor.start = at
  while (at < bytes.length && !isSpace(bytes[at])) at += 1
  cursor.end = at
  return at > cursor.start
}

function isSpace(byte: number | undefined): boolean {
  return byte === newline || isBlank(byte)
}

/** Returns the line of a cursor's token, without white space at the line's end. */
function lineOf({ bytes, line, lineStart, end }: TokenCursor): Line {
  let lineEnd = end
  for (let at = end; at < bytes.length && bytes[at] !== newline; at += 1) {
    if (!isBlank(bytes[at])) lineEnd = at + 1
  }
  return { bytes, line, start: lineStart, end: lineEnd }
}
