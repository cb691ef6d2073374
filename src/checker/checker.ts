// Checkers: they decide whether a program's output matches the expected output. They work on bytes and know nothing of jobs or
// requests.
//
// Either output may come from a stranger, so each checker takes time and memory that are linear in both, whatever the bytes
// are. It moves a cursor over each output and makes no object per line or token. Large outputs are checked in a thread
// (apart.ts).
//
//   exact            byte for byte
//   lines            the lines in order, without white space at their ends and without empty lines at the end
//   unordered_lines  the same lines in any order, each equally often
//   tokens           the runs of bytes without white space, in order
//   floats           tokens; numbers may differ by a tolerance
import { checkExact, checkLines } from './line.ts'
import type { Judgement } from './line.ts'
import { checkFloats, checkTokens } from './token.ts'
import type { Tolerances } from './token.ts'
import { checkUnorderedLines } from './unordered-lines.ts'

export { openCheckThread } from './apart.ts'
export type { CheckThread, CheckThreadOptions } from './apart.ts'
export { excerptLength } from './line.ts'
export type { Difference, Judgement } from './line.ts'

/** A built-in checker and its settings, as in the API's field `checker`. */
export type BuiltInChecker =
  | { readonly type: 'exact' | 'lines' | 'unordered_lines' | 'tokens' }
  | ({ readonly type: 'floats' } & Tolerances)

/** The checker of a request that does not name one. */
export const defaultChecker: BuiltInChecker = { type: 'lines' }

/** Compares an output with the expected one. */
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
