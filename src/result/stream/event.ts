// The events of an attempt's stream, ready to be sent, and their ids. A worker makes events while a program runs, and a web
// process makes them from the record. An id states what a follower that reconnects has received: an event's number within its
// attempt, and, because the record has no event numbers, also how much of both outputs came before.

/** A server-sent event; `data` is JSON. */
export interface LiveEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

/** What a follower has received. An event's id is the position as text. */
export interface Position {
  /** The last stage that was sent; `new`: no stage was sent. */
  readonly stage: 'new' | 'submitted' | 'queued' | 'running' | 'ended'
  /** The last attempt that was sent, or that was known to be lost; null: none. */
  readonly run: string | null
  /** How many events of the attempt were sent. */
  readonly seq: number
  /** How many bytes of each output were sent. */
  readonly stdout: number
  readonly stderr: number
}

type Output = 'stdout' | 'stderr'

// A byte-order mark is kept, as it is in the record.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export function formatEvent({ id, event, data }: LiveEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
}

/** The position at which only the stage was sent, and no event of the attempt `run`. */
export function atStage(stage: Position['stage'], run: string | null): Position {
  return { stage, run, seq: 0, stdout: 0, stderr: 0 }
}

/** The position before anything was sent. */
export const beginning: Position = atStage('new', null)

export function formatPosition({ stage, run, seq, stdout, stderr }: Position): string {
  if (stage === 'running') return [run, seq, stdout, stderr].join('.')
  return stage === 'queued' && run !== null ? `queued.${run}` : stage
}

/** Parses an event's id. For an unknown id the stream starts at the beginning. */
export function parsePosition(text: string): Position {
  if (text === 'submitted' || text === 'queued' || text === 'ended') return atStage(text, null)
  const [, lost] = /^queued\.([\da-f-]{1,36})$/.exec(text) ?? []
  if (lost !== undefined) return atStage('queued', lost)
  const [, run, ...numbers] =
    /^([\da-f-]{1,36})\.(\d{1,9})\.(\d{1,12})\.(\d{1,12})$/.exec(text) ?? []
  if (run === undefined) return beginning
  const [seq = 0, stdout = 0, stderr = 0] = numbers.map(Number)
  return { stage: 'running', run, seq, stdout, stderr }
}

/** Returns the position after the attempt's next event. @param bytes how many bytes of `output` the event has. */
export function nextPosition(from: Position, output?: Output, bytes = 0): Position {
  const next = { ...from, seq: from.seq + 1 }
  return output === undefined ? next : { ...next, [output]: from[output] + bytes }
}

export function compileEvent(after: Position, messages: Uint8Array | string): LiveEvent {
  const output = typeof messages === 'string' ? messages : decoder.decode(messages)
  return { id: formatPosition(after), event: 'compile', data: JSON.stringify({ output }) }
}

/** Makes the event of an output's next bytes. @param after the position after these bytes. */
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

/**
 * Cuts bytes to `most` at most, without dividing a UTF-8 character.
 * @param isWhole no bytes follow, so an incomplete character at the end is kept.
 * @returns how many of the bytes to take.
 */
export function cutBetweenCharacters(bytes: Uint8Array, most: number, isWhole: boolean): number {
  if (bytes.length <= most && isWhole) return bytes.length
  const length = Math.min(bytes.length, most)
  // Looks for the last byte that begins a character of several bytes, and checks whether the character is complete.
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
