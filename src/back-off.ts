// How long to wait before what has failed is tried again: each time twice as long, up to a longest pause.

/** What a pause is worked out from, in any one unit of time. */
export interface BackOff {
  /** After the first failure. */
  readonly first: number
  readonly longest: number
}

/** The pause after so many failures in a row, from 1. */
export function backOff(failures: number, { first, longest }: BackOff): number {
  return Math.min(first * 2 ** (failures - 1), longest)
}
