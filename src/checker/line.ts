// Reads an output line by line, without making an object for each line, and compares line with line, in order: the checkers
// `lines` and `exact`.
import { areSame, isBlank, newline } from './byte.ts'
import { differAt, same } from './judgement.ts'
import type { Judgement, Line } from './judgement.ts'

/** A position at a line; before the first line until `nextLine` is called. */
export interface LineCursor extends Line {
  line: number
  start: number
  end: number
  /** Start of the next line; greater than `limit` after the last line. */
  next: number
  /** End of the last line. */
  readonly limit: number
  /** True when white space at a line's end does not belong to the line. */
  readonly trims: boolean
}

/** Compares lines, without white space at line ends and without empty lines at the end. */
export function checkLines(output: Uint8Array, expected: Uint8Array): Judgement {
  return compare(trimmedLines(expected), trimmedLines(output))
}

/** Compares byte for byte. */
export function checkExact(output: Uint8Array, expected: Uint8Array): Judgement {
  return compare(wholeLines(expected), wholeLines(output))
}

function compare(expected: LineCursor, got: LineCursor): Judgement {
  for (;;) {
    const isExpected = nextLine(expected)
    const isGot = nextLine(got)
    if (!isExpected && !isGot) return same
    if (!isExpected || !isGot || !areSame(expected, got)) {
      return differAt(isExpected ? expected : null, isGot ? got : null)
    }
  }
}

/** Returns a cursor over all bytes: n newlines make n + 1 lines, the last of which may be empty. */
function wholeLines(bytes: Uint8Array): LineCursor {
  return { bytes, line: 0, start: 0, end: 0, next: 0, limit: bytes.length, trims: false }
}

/**
 * Returns a cursor that ignores white space at line ends and empty lines at the end. An output of only white space has no line.
 */
export function trimmedLines(bytes: Uint8Array): LineCursor {
  let limit = bytes.length
  while (limit > 0 && (isBlank(bytes[limit - 1]) || bytes[limit - 1] === newline)) limit -= 1
  return { bytes, line: 0, start: 0, end: 0, next: limit === 0 ? 1 : 0, limit, trims: true }
}

/** Moves to the next line. False when there is none. */
export function nextLine(cursor: LineCursor): boolean {
  const { bytes, limit, next } = cursor
  if (next > limit) return false
  let end = next
  while (end < limit && bytes[end] !== newline) end += 1
  cursor.next = end + 1
  if (cursor.trims) while (end > next && isBlank(bytes[end - 1])) end -= 1
  cursor.line += 1
  cursor.start = next
  cursor.end = end
  return true
}
