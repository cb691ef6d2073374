// The events of an attempt, ready to be sent: a worker makes them while a program runs, a web process of the record.
import { formatPosition } from './position.ts'
import type { Position } from './position.ts'

/** As it is sent; `data` is JSON. */
export interface LiveEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

type Output = 'stdout' | 'stderr'

// A byte-order mark is kept, as in the record.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export function formatEvent({ id, event, data }: LiveEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
}

/** The position after the next event of an attempt. @param bytes of an output that the event has. */
export function nextPosition(from: Position, output?: Output, bytes = 0): Position {
  const next = { ...from, seq: from.seq + 1 }
  return output === undefined ? next : { ...next, [output]: from[output] + bytes }
}

export function compileEvent(after: Position, messages: Uint8Array | string): LiveEvent {
  const output = typeof messages === 'string' ? messages : decoder.decode(messages)
  return { id: formatPosition(after), event: 'compile', data: JSON.stringify({ output }) }
}

/** @param after its offset is where these bytes end. */
export function outputEvent(
  after: Position,
  output: Output,
  bytes: Uint8Array,
  isBase64: boolean,
): LiveEvent {
  const offset = after[output] - bytes.length
  const data = isBase64
    ? { offset, base64: Buffer.from(bytes).toString('base64') }
    : { offset, text: decoder.decode(bytes) }
  return { id: formatPosition(after), event: output, data: JSON.stringify(data) }
}

/** @param isWhole nothing follows: half a character at the end is all there is of it. @returns how many bytes of these. */
export function cutBetweenCharacters(bytes: Uint8Array, most: number, isWhole: boolean): number {
  if (bytes.length <= most && isWhole) return bytes.length
  const length = Math.min(bytes.length, most)
  // The last byte that begins a character of several: is there all of it?
  for (let back = 1; back <= Math.min(3, length); back += 1) {
    const byte = bytes[length - back] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc0) return back < lengthOf(byte) ? length - back : length
  }
  return length
}

function lengthOf(lead: number): number {
  if (lead >= 0xf0) return 4
  return lead >= 0xe0 ? 3 : 2
}
