// Goes through an output line by line, without making anything for each.
import { areSame, isBlank, newline } from './byte.ts'
import type { Line } from './judgement.ts'

/** Stands at a line; before the first until `nextLine` was called. */
export interface LineCursor extends Line {
  line: number
  start: number
  end: number
  /** Where the next line begins; beyond `limit` after the last. */
  next: number
  /** Where the last line ends. */
  readonly limit: number
  /** Whether white space at a line's end is no part of it. */
  readonly trims: boolean
}

/** Of every byte: n newlines make n + 1 lines, the last of which may be empty. */
export function wholeLines(bytes: Uint8Array): LineCursor {
  return { bytes, line: 0, start: 0, end: 0, next: 0, limit: bytes.length, trims: false }
}

/** Without white space at line ends and without empty lines at the end: of blanks alone there is none. */
export function trimmedLines(bytes: Uint8Array): LineCursor {
  let limit = bytes.length
  while (limit > 0 && (isBlank(bytes[limit - 1]) || bytes[limit - 1] === newline)) limit -= 1
  return { bytes, line: 0, start: 0, end: 0, next: limit === 0 ? 1 : 0, limit, trims: true }
}

/** False when there is no further line. */
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

/** Whether two cursors stand at the same content. */
export function areSameLines(left: Line, right: Line): boolean {
  return areSame(left.bytes, left.start, left.end, right.bytes, right.start, right.end)
}
