// Argument values that meet the filter's conditions or just miss them, and the table's answer to a call. The answer is read
// straight from the rows with 64-bit arithmetic, so that the compiled program is compared with something independent.
import {
  filterRows,
  lastReviewedNumber,
  unassignedNumbers,
} from '../../../src/executor/seccomp/policy.ts'
import { errnos } from '../../../src/executor/seccomp/row.ts'
import type { Condition, FilterRow } from '../../../src/executor/seccomp/row.ts'
import { callNumbers } from '../../../src/executor/seccomp/syscall-number.ts'
import type { Architecture, CallName } from '../../../src/executor/seccomp/syscall-number.ts'

const low = 0xffffffffn

export function numberOf(call: CallName, architecture: Architecture): number | null {
  return callNumbers[call][architecture === 'x86_64' ? 0 : 1]
}

/** Returns the rows of one architecture. */
export function rowsOf(architecture: Architecture): readonly FilterRow[] {
  return filterRows.filter((row) => (row.architecture ?? architecture) === architecture)
}

function holds(condition: Condition, values: readonly bigint[]): boolean {
  const value = values[condition.argument]!
  const word = condition.word === 'high' ? (value >> 32n) & low : value & low
  const seen = Number(word & BigInt(condition.mask ?? 0xffffffff))
  if (condition.test === 'any_bit') return (BigInt(seen) & BigInt(condition.bits)) !== 0n
  return condition.values.includes(seen) === (condition.test === 'one_of')
}

/** Returns the errno that the table gives a call; null when the call is allowed. */
export function lookUp(
  architecture: Architecture,
  number: number,
  values: readonly bigint[],
): number | null {
  const isUnassigned = unassignedNumbers[architecture].some(
    ([first, last]) => number >= first && number <= last,
  )
  if (number > lastReviewedNumber || isUnassigned) return errnos.ENOSYS
  const row = rowsOf(architecture).find(
    (candidate) =>
      candidate.calls.some((call) => numberOf(call, architecture) === number) &&
      candidate.conditions.every((condition) => holds(condition, values)),
  )
  return row === undefined ? null : errnos[row.errno]
}

/** Returns the values that a condition names, and their neighbours. */
function nearValues(condition: Condition): bigint[] {
  const named = condition.test === 'any_bit' ? bitsOf(condition.bits) : condition.values
  const base = [
    ...new Set([0, 1, 3, 16, 38, 0x7fffffff, 0xffffffff, ...named, ...named.map((v) => v + 1)]),
  ].map((value) => BigInt(value) & low)
  // High bits are set, too. The kernel drops them from an int, so they must not mislead the filter.
  return base.flatMap((value) => [value, value | (1n << 32n), value | (low << 32n)])
}

function bitsOf(word: number): number[] {
  return Array.from({ length: 32 }, (_, bit) => 2 ** bit).filter(
    (bit) => (BigInt(word) & BigInt(bit)) !== 0n,
  )
}

/** Returns all six-argument lists with these values at these positions, and 0 elsewhere. */
export function combine(places: ReadonlyMap<number, readonly bigint[]>): bigint[][] {
  let lists: bigint[][] = [Array.from({ length: 6 }, () => 0n)]
  for (const [place, values] of places)
    lists = lists.flatMap((list) => values.map((value) => list.with(place, value)))
  return lists
}

/** Returns, for each argument of these rows' conditions, the values near those that the conditions name. */
export function nearPlaces(rows: readonly FilterRow[]): Map<number, bigint[]> {
  const places = new Map<number, bigint[]>()
  for (const condition of rows.flatMap(({ conditions }) => conditions)) {
    const before = places.get(condition.argument) ?? []
    places.set(condition.argument, [...new Set([...before, ...nearValues(condition)])])
  }
  return places
}

/** Returns argument lists for which every condition of a row holds; one of zeros for a row without conditions. */
export function matchingArguments(row: FilterRow): bigint[][] {
  return combine(nearPlaces([row])).filter((values) =>
    row.conditions.every((condition) => holds(condition, values)),
  )
}
