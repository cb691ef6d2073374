// Checkers: whether what a program wrote is what was expected of it. They know bytes alone, neither jobs nor requests.
//
// Either side may be a stranger's, so each checker is linear in the time and memory of both, whatever the bytes are: it walks
// over them with a cursor on each side and makes no object for a line or a token. What is large is checked in a thread (apart.ts).
//
//   exact            byte for byte
//   lines            the lines in order, without white space at their ends and without empty lines at the end
//   unordered_lines  the same lines in any order, each as often
//   tokens           the runs without white space, in order
//   floats           tokens, of which numbers may be a little apart
import { checkFloats } from './floats.ts'
import type { Tolerances } from './floats.ts'
import type { Judgement } from './judgement.ts'
import { checkExact, checkLines } from './lines.ts'
import { checkTokens } from './token.ts'
import { checkUnorderedLines } from './unordered-lines.ts'

export { openCheckThread } from './apart.ts'
export type { CheckThread, CheckThreadOptions } from './apart.ts'
export { excerptLength } from './judgement.ts'
export type { Difference, Judgement } from './judgement.ts'

interface FloatsChecker extends Tolerances {
  readonly type: 'floats'
}

/** A checker of ours and its settings, as the API's field `checker` has it. */
export type BuiltInChecker =
  | { readonly type: 'exact' }
  | { readonly type: 'lines' }
  | { readonly type: 'unordered_lines' }
  | { readonly type: 'tokens' }
  | FloatsChecker

/** Where nobody chose one. */
export const defaultChecker: BuiltInChecker = { type: 'lines' }

/** @throws RangeError for `floats` without a tolerance, or with one that is negative or not finite. */
export function check(
  checker: BuiltInChecker,
  output: Uint8Array,
  expected: Uint8Array,
): Judgement {
  switch (checker.type) {
    case 'exact':
      return checkExact(output, expected)
    case 'lines':
      return checkLines(output, expected)
    case 'unordered_lines':
      return checkUnorderedLines(output, expected)
    case 'tokens':
      return checkTokens(output, expected)
    case 'floats':
      return checkFloats(output, expected, checker)
  }
}
