// Ids are UUIDs of version 7, so that they sort by time; ids of one process sort strictly in the order of their creation.
import { randomFillSync } from 'node:crypto'
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

const idBytes = 16
// Random bytes for many ids are drawn at once, because a draw per id took a sixteenth of a submission's cost in a web process.
const random = new Uint8Array(256 * idBytes)
let used = random.length
let milliseconds = 0
let sequence = 0

/** Returns a new id. */
export function createId(): string {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  const own = random.subarray(used, used + idBytes)
  used += idBytes
  const now = Date.now()
  if (now > milliseconds) {
    milliseconds = now
    // The highest of the 32 bits is 0, so the sequence cannot overflow: no millisecond has two thousand million ids. v7 takes
    // other bytes of `own`.
    sequence = new DataView(own.buffer, own.byteOffset).getUint32(0) >>> 1
  } else {
    sequence += 1
  }
  return v7({ random: own, msecs: milliseconds, seq: sequence })
}
