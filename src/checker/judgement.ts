// What a checker says: the outputs are the same, or where they first are not.

/** How much of a line is reported, in Unicode code points. */
export const excerptLength = 200
const longestCodePoint = 4

export interface Difference {
  /** From 1, of the expected output; of the program's where `expected` is null. */
  readonly line: number
  /**
   * The expected line, cut to 200 code points; null when nothing is expected there. What is no UTF-8 is U+FFFD. It may hold
   * U+0000, which PostgreSQL's text and jsonb refuse.
   */
  readonly expected: string | null
  /** The program's line; null when it wrote nothing there. */
  readonly got: string | null
}

export type Judgement =
  { readonly same: true } | { readonly same: false; readonly difference: Difference }

/** A line of an output without its newline: the bytes from `start` up to, but not including, `end`. */
export interface Line {
  readonly bytes: Uint8Array
  /** From 1. */
  readonly line: number
  readonly start: number
  readonly end: number
}

export const same: Judgement = { same: true }

/** Of the two lines one at least is there. */
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
  // A character that this cuts in two is behind the last that is reported: those before it fill all the other bytes.
  const cut = Math.min(end, start + excerptLength * longestCodePoint)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, cut - start).toString('utf8')
  return Array.from(text).slice(0, excerptLength).join('')
}
