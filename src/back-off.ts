// Exponential back-off: each pause is twice the one before, up to a longest.

/** In any one unit of time. */
interface BackOff {
  /** After the first failure. */
  readonly first: number
  readonly longest: number
}

/** @param failures in a row, from 1. */
export function backOff(failures: number, { first, longest }: BackOff): number {
  return Math.min(first * 2 ** (failures - 1), longest)
}
