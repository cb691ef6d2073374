// Tables of outputs for a checker: a string is Latin-1, so that it can be any bytes.
import type { Test } from 'tap'
import { check } from '#checker'
import type { BuiltInChecker, Difference, Judgement } from '#checker'

export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

export function judge(checker: BuiltInChecker, output: string, expected: string): Judgement {
  return check(checker, bytesOf(output), bytesOf(expected))
}

/** Each pair is the same, whichever of the two is expected. */
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

/** What is expected, what is got, and where they differ. */
export type DifferenceRow = readonly [
  expected: string,
  output: string,
  difference: readonly [line: number, expected: string | null, got: string | null],
]

/** Each output differs from the expected one, there. */
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
