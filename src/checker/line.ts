// Reads an output line by line, without making an object for each line.
import { areSame, isBlank, newline } from './byte.ts'
import type { Line } from './judgement.ts'

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

/** Returns a cursor over all bytes: n newlines make n + 1 lines, the last of which may be empty. */
export function wholeLines(bytes: Uint8Array): LineCursor {
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

/** Returns whether two lines have the same content. */
export function areSameLines(left: Line, right: Line): boolean {
  return areSame(left.bytes, left.start, left.end, right.bytes, right.start, right.end)
}
