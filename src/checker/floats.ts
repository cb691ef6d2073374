// The checker `floats`: tokens, of which numbers may be a little apart.
import type { Judgement } from './judgement.ts'
import { parseNumber } from './number.ts'
import { areSameTokens, compareTokens } from './token.ts'

/** Finite and not negative. One that is absent is 0; one at least is given. */
export interface Tolerances {
  readonly absolute?: number | undefined
  /** Of the expected number's magnitude. */
  readonly relative?: number | undefined
}

/**
 * Two numbers match when either tolerance admits their distance, computed in doubles; tokens that are not both numbers match
 * when they are the same.
 *
 * @throws RangeError for tolerances that are none.
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
    if (areSameTokens(wanted, got)) return true
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
  // What is infinite is near to nothing but itself, though a tolerance of it would be infinite too.
  if (!Number.isFinite(expected) || !Number.isFinite(got)) return expected === got
  const distance = Math.abs(expected - got)
  if (distance <= absolute) return true
  if (Number.isFinite(distance)) return distance <= relative * Math.abs(expected)
  // Beyond the largest double both sides would be infinite: their halves are not.
  return Math.abs(expected / 2 - got / 2) <= relative * Math.abs(expected / 2)
}
