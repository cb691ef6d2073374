// The events of an attempt, ready to be sent: a worker makes them while a program runs, a web process of the record. And their
// ids, which say what a follower that comes back has had. A live event has a number within its attempt; the record has no
// events, so an id also says how much of both outputs came before it.

/** As it is sent; `data` is JSON. */
export interface LiveEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

/** What a follower has had; an event's id is its text. */
export interface Position {
  /** The last stage that was sent; `new`: none. */
  readonly stage: 'new' | 'submitted' | 'queued' | 'running' | 'ended'
  /** The last attempt that was sent, or was known to be lost; null: none. */
  readonly run: string | null
  /** Of the attempt: how many of its events were sent. */
  readonly seq: number
  /** Bytes. */
  readonly stdout: number
  readonly stderr: number
}

type Output = 'stdout' | 'stderr'

// A byte-order mark is kept, as in the record.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export function formatEvent({ id, event, data }: LiveEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
}

/** Of the attempt `run`, nothing but its stage was sent. */
export function atStage(stage: Position['stage'], run: string | null): Position {
  return { stage, run, seq: 0, stdout: 0, stderr: 0 }
}

/** Nothing was sent. */
export const beginning: Position = atStage('new', null)

export function formatPosition({ stage, run, seq, stdout, stderr }: Position): string {
  if (stage === 'running') return [run, seq, stdout, stderr].join('.')
  return stage === 'queued' && run !== null ? `queued.${run}` : stage
}

/** An unknown id is the beginning, as for a server that has forgotten it. */
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
