// The type of the filter's rows and functions that build them, so that policy.ts holds only decisions and reasons.
import type { Architecture, CallName } from './syscall-number.ts'

/** Linux's errno values, the same on both architectures; `done` reports success without doing anything. */
export const errnos = {
  done: 0,
  EPERM: 1,
  ENOMEM: 12,
  EINVAL: 22,
  ENOSYS: 38,
  ENOPROTOOPT: 92,
  EPROTONOSUPPORT: 93,
  ESOCKTNOSUPPORT: 94,
  EOPNOTSUPP: 95,
  EAFNOSUPPORT: 97,
} as const

interface Word {
  /** Number of the argument, 0–5. */
  readonly argument: number
  /**
   * The half to test; the low one by default. The kernel truncates `int` arguments, so a test of all 64 bits could be evaded by
   * setting a high bit (CVE-2019-10063).
   */
  readonly word?: 'high'
  /** Bits to test; all by default. */
  readonly mask?: number
}

export type Condition =
  | (Word & { readonly test: 'one_of' | 'none_of'; readonly values: readonly number[] })
  | (Word & { readonly test: 'any_bit'; readonly bits: number })

/** Refuses calls when all its conditions hold; without conditions, always. The first matching row decides. */
export interface FilterRow {
  readonly calls: readonly CallName[]
  readonly conditions: readonly Condition[]
  readonly errno: keyof typeof errnos
  /** The only architecture of the row; both by default. */
  readonly architecture?: Architecture
}

/** The names in a text, separated by blanks. */
type Names<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? First | Names<Rest>
  : Text

/** Builds a row. @param calls names, separated by blanks, so that a table can be read by row. */
export function refuse<const Calls extends string>(
  errno: FilterRow['errno'],
  calls: Names<Calls> extends CallName ? Calls : never,
  ...conditions: readonly Condition[]
): FilterRow {
  return { calls: calls.split(' ') as CallName[], conditions, errno }
}

/** Tests that the argument's low word is one of the values. */
export function isOneOf(argument: number, ...values: readonly number[]): Condition {
  return { argument, test: 'one_of', values }
}

/** Tests that the argument's low word is none of the values. */
export function isNoneOf(argument: number, ...values: readonly number[]): Condition {
  return { argument, test: 'none_of', values }
}

/** Tests that the argument's low word has any of the bits. */
export function hasAnyBit(argument: number, bits: number): Condition {
  return { argument, test: 'any_bit', bits }
}
