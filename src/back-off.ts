// Exponential back-off: each pause is twice the previous one, up to a maximum.

/** Pauses; both values have the same unit of time, which the result has too. */
interface BackOff {
  /** The pause after the first failure. */
  readonly first: number
  readonly longest: number
}

/** Returns the pause after this many failures. @param failures in a row, from 1. */
export function backOff(failures: number, { first, longest }: BackOff): number {
  return Math.min(first * 2 ** (failures - 1), longest)
}
