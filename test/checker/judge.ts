// Tests a checker with tables of outputs. Strings are Latin-1, so that they can hold any bytes.
import type { Test } from 'tap'
import { check } from '#checker'
import type { BuiltInChecker, Difference, Judgement } from '#checker'

export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

export function judge(checker: BuiltInChecker, output: string, expected: string): Judgement {
  return check(checker, bytesOf(output), bytesOf(expected))
}

/** Checks that the two outputs of each pair are the same, whichever of them is expected. */
export function holdSame(
  t: Test,
  checker: BuiltInChecker,
  pairs: readonly (readonly [string, string])[],
): void {
  for (const [left, right] of pairs) {
    const name = JSON.stringify([checker, left, right])
    t.strictSame(judge(checker, left, right), { same: true }, name)
    t.strictSame(judge(checker, right, left), { same: true }, name)
  }
}

/** The expected output, the actual output, and where they differ. */
export type DifferenceRow = readonly [
  expected: string,
  output: string,
  difference: readonly [line: number, expected: string | null, got: string | null],
]

/** Checks that each output differs from the expected one at the given line. */
export function holdDifferent(
  t: Test,
  checker: BuiltInChecker,
  rows: readonly DifferenceRow[],
): void {
  for (const [wanted, output, [line, expected, got]] of rows) {
    const difference: Difference = { line, expected, got }
    const name = JSON.stringify([checker, wanted, output])
    t.strictSame(judge(checker, output, wanted), { same: false, difference }, name)
  }
}
