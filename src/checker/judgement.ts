// A checker's result: the outputs match, or the first difference.
import type { Range } from './byte.ts'

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
