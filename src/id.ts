// Ids: UUIDs of version 7, so that they sort by time, those of this process strictly.
import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

/** Before any other. */
export const firstId = '00000000-0000-0000-0000-000000000000'

/** The smallest of a time, as runledger.uuid_floor has it; those that were made earlier are below it. */
export function floorId(milliseconds: number): string {
  const hex = milliseconds.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

const idBytes = 16
// Drawn for many ids at once: a draw for each took a sixteenth of what a submission costs a web process.
const random = new Uint8Array(256 * idBytes)
let used = random.length
let milliseconds = 0
let sequence = 0

/** A new one. */
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
    // Of 32 bits the highest is 0: no millisecond has two thousand million ids, so it never ends. v7 takes others of `own`.
    sequence = new DataView(own.buffer, own.byteOffset).getUint32(0) >>> 1
  } else {
    sequence += 1
  }
  return v7({ random: own, msecs: milliseconds, seq: sequence })
}
