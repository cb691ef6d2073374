// The checker `floats`: compares tokens; numbers may differ by a tolerance.
import { areSame } from './byte.ts'
import type { Judgement } from './judgement.ts'
import { parseNumber } from './number.ts'
import { compareTokens } from './token.ts'

/** Tolerances, finite and not negative. At least one is set; a missing one is 0. */
export interface Tolerances {
  readonly absolute?: number | undefined
  /** Fraction of the expected number's magnitude. */
  readonly relative?: number | undefined
}

/**
 * Compares tokens. Two numbers match when either tolerance admits their distance, computed in doubles. Tokens that are not both
 * numbers match when they are the same.
 *
 * @throws {RangeError} for invalid tolerances.
 */
export function checkFloats(
  output: Uint8Array,
  expected: Uint8Array,
  tolerances: Tolerances,
): Judgement {
  const { absolute = 0, relative = 0 } = tolerances
  const isGiven = tolerances.absolute !== undefined || tolerances.relative !== undefined
  if (!isGiven || !isTolerance(absolute) || !isTolerance(relative)) {
    throw new RangeError('the checker floats needs a tolerance, finite and not negative')
  }
  return compareTokens(output, expected, (wanted, got) => {
    if (areSame(wanted, got)) return true
    const wantedNumber = parseNumber(wanted)
    if (wantedNumber === null) return false
    const gotNumber = parseNumber(got)
    return gotNumber !== null && isNear(wantedNumber, gotNumber, absolute, relative)
  })
}

function isTolerance(value: number): boolean {
  return Number.isFinite(value) && value >= 0
}

function isNear(expected: number, got: number, absolute: number, relative: number): boolean {
  if (Number.isNaN(expected)) return Number.isNaN(got)
  // An infinite number matches only itself. The relative tolerance of an infinite number would be infinite and admit
  // everything.
  if (!Number.isFinite(expected) || !Number.isFinite(got)) return expected === got
  const distance = Math.abs(expected - got)
  if (distance <= absolute) return true
  if (Number.isFinite(distance)) return distance <= relative * Math.abs(expected)
  // The distance exceeds the largest double. The halves of both numbers do not.
  return Math.abs(expected / 2 - got / 2) <= relative * Math.abs(expected / 2)
}
