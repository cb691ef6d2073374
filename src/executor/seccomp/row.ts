// The shape of the filter's rows, and short forms to write them in, so that policy.ts holds only decisions and reasons.
import { splitNames } from '#contract'
import type { Names } from '#contract'
import type { Architecture, CallName } from './syscall-number.ts'

/** Linux's numbers, the same on both architectures; `done` pretends success. */
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
  /** Its number, 0–5. */
  readonly argument: number
  /**
   * The low half unless said. The kernel truncates `int` arguments: a test of 64 bits is evaded by setting a high one
   * (CVE-2019-10063).
   */
  readonly word?: 'high'
  /** Bits to test; all unless said. */
  readonly mask?: number
}

export type Condition =
  | (Word & { readonly test: 'one_of' | 'none_of'; readonly values: readonly number[] })
  | (Word & { readonly test: 'any_bit'; readonly bits: number })

/** Calls refused when all conditions hold (without any, always). The first matching row answers. */
export interface FilterRow {
  readonly calls: readonly CallName[]
  readonly conditions: readonly Condition[]
  readonly errno: keyof typeof errnos
  readonly reason: string
  /** Both architectures unless said. */
  readonly architecture?: Architecture
}

/** @param calls names with a blank between two. */
export function refuse<const Calls extends string>(
  errno: FilterRow['errno'],
  calls: Names<Calls> extends CallName ? Calls : never,
  reason: string,
  ...conditions: readonly Condition[]
): FilterRow {
  return { calls: splitNames(calls) as CallName[], conditions, errno, reason }
}

/** The argument's low word is one of these. */
export function isOneOf(argument: number, ...values: readonly number[]): Condition {
  return { argument, test: 'one_of', values }
}

/** The argument's low word is none of these. */
export function isNoneOf(argument: number, ...values: readonly number[]): Condition {
  return { argument, test: 'none_of', values }
}

/** The argument's low word has any of these bits. */
export function hasAnyBit(argument: number, bits: number): Condition {
  return { argument, test: 'any_bit', bits }
}
