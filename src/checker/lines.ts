// The checkers that compare line with line, in order: `lines` and `exact`.
import { differAt, same } from './judgement.ts'
import type { Judgement } from './judgement.ts'
import { areSameLines, nextLine, trimmedLines, wholeLines } from './line.ts'
import type { LineCursor } from './line.ts'

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
    if (!isExpected || !isGot || !areSameLines(expected, got)) {
      return differAt(isExpected ? expected : null, isGot ? got : null)
    }
  }
}
