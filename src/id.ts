// Ids are UUIDs of version 7, so that they sort by time; ids of one process sort strictly in the order of their creation.
import { v7, validate } from 'uuid'

/** Sorts before every other id. */
export const firstId = '00000000-0000-0000-0000-000000000000'

/** Returns the smallest id of a time, as runledger.uuid_floor does; ids that were made earlier sort before it. */
export function floorId(milliseconds: number): string {
  const hex = milliseconds.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** True for a UUID of any version, in any case. */
export function isUuid(text: string): boolean {
  return validate(text)
}

export function createId(): string {
  return v7()
}
