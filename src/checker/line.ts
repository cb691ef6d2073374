// Bytes, lines and differences: what all checkers work with, and the two checkers that compare line with line, in order, `lines`
// and `exact`. An output is read line by line, without making an object for each line. Bytes other than white space are content,
// whatever they encode.

export const newline = 0x0a

/** True for space, tab, vertical tab, form feed and carriage return: the white space within a line. */
export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0b || byte === 0x0c || byte === 0x0d
}

/** The bytes from `start` to `end`, exclusive: a line or a token of an output. */
export interface Range {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

/** Returns whether two ranges hold the same bytes. */
export function areSame(left: Range, right: Range): boolean {
  const { bytes: leftBytes, start: leftStart } = left
  const { bytes: rightBytes, start: rightStart } = right
  const length = left.end - leftStart
  if (length !== right.end - rightStart) return false
  for (let index = 0; index < length; index += 1) {
    if (leftBytes[leftStart + index] !== rightBytes[rightStart + index]) return false
  }
  return true
}

/** The reported length of a line, in Unicode code points. */
export const excerptLength = 200
const longestCodePoint = 4

export interface Difference {
  /** Line number from 1 in the expected output, or in the program's output if `expected` is null. */
  readonly line: number
  /**
   * The expected line, cut to 200 code points; null when no line is expected there. Bytes that are not UTF-8 become U+FFFD. It
   * may contain U+0000, which PostgreSQL's text and jsonb refuse.
   */
  readonly expected: string | null
  /** The program's line, cut in the same way; null when the program wrote no line there. */
  readonly got: string | null
}

export type Judgement =
  { readonly same: true } | { readonly same: false; readonly difference: Difference }

/** A line of an output without its newline. */
export interface Line extends Range {
  /** Line number, from 1. */
  readonly line: number
}

export const same: Judgement = { same: true }

/** Returns a difference. At least one of the two lines is not null. */
export function differAt(expected: Line | null, got: Line | null): Judgement {
  const line = expected?.line ?? got?.line ?? 1
  return {
    same: false,
    difference: { line, expected: excerptOf(expected), got: excerptOf(got) },
  }
}

function excerptOf(line: Line | null): string | null {
  if (line === null) return null
  const { bytes, start, end } = line
  // If the cut splits a character, that character is beyond the reported ones: 200 whole characters fit before the cut.
  const cut = Math.min(end, start + excerptLength * longestCodePoint)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, cut - start).toString('utf8')
  return Array.from(text).slice(0, excerptLength).join('')
}

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
