// What a watcher is told next: from how far he has come, and what is known of the submission, the events as they are sent.
import { atStage, formatPosition } from './position.ts'
import type { Position, Stage } from './position.ts'

/** A part of an output. */
export interface Part {
  /** Bytes of the output before it. */
  readonly start: number
  readonly bytes: Uint8Array
}

export interface Seen {
  readonly id: string
  /** It waits, for the first time or again. */
  readonly isQueued: boolean
  /** The last attempt; null: none was begun. */
  readonly run: string | null
  readonly isBase64: boolean
  /** The compiler's messages; null: there are none, or none yet. */
  readonly compile: string | null
  readonly stdout: Part
  readonly stderr: Part
  /** Those that have ended, with their indexes: JSON. */
  readonly tests: readonly { readonly index: number; readonly json: string }[]
  /** The record of the end as JSON; null: it has not ended. */
  readonly record: string | null
}

export interface Advance {
  /** As it is sent; empty when there is nothing new. */
  readonly text: string
  readonly position: Position
}

/** Of one event. */
const longestText = 65_536

// A byte-order mark is kept, as in the record.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export function advance(from: Position, seen: Seen): Advance {
  const writer = createWriter(from)
  tellStanding(writer, seen)
  const { position } = writer
  if (position.stage === 'running' && position.run === seen.run) tellRun(writer, seen)
  if (seen.record !== null && position.stage !== 'ended')
    writer.add('result', seen.record, { stage: 'ended' })
  return { text: writer.text, position: writer.position }
}

interface Writer {
  readonly text: string
  readonly position: Position
  /** @param data JSON. @param change of the position, to what it is after this event. */
  add(event: string, data: string, change: Partial<Position>): void
}

function createWriter(from: Position): Writer {
  let position = from
  const events: string[] = []
  return {
    get text() {
      return events.join('')
    },
    get position() {
      return position
    },
    add(event, data, change) {
      position = { ...position, ...change }
      events.push(`id: ${formatPosition(position)}\nevent: ${event}\ndata: ${data}\n\n`)
    },
  }
}

/** Whatever an attempt told begins anew with the next one. */
function tellStanding(writer: Writer, seen: Seen): void {
  const { id, run, isQueued } = seen
  const tell = (status: Stage, of: string | null): void =>
    writer.add('status', JSON.stringify({ status }), atStage(status, of))
  const stands = (): Position => writer.position
  if (stands().stage === 'ended') return
  if (stands().stage === 'new')
    writer.add('submitted', JSON.stringify({ id }), { stage: 'submitted' })
  // One that was lost before anybody looked is not told of.
  if (stands().stage === 'submitted') tell('queued', isQueued ? run : null)
  const isAnother = run !== stands().run
  // It goes on although it was told to be lost: a crash of the database has forgotten that.
  const goesOn = isAnother || seen.record === null || hasOutput(seen)
  if (stands().stage === 'running' && (isQueued || isAnother))
    // A crash of the database may have forgotten the attempt that was told of: it is named, as no position comes twice.
    tell('queued', isQueued ? (run ?? stands().run) : stands().run)
  if (stands().stage === 'queued' && goesOn && !isQueued && run !== null) tell('running', run)
}

function hasOutput({ compile, stdout, stderr, tests }: Seen): boolean {
  return compile !== null || stdout.bytes.length + stderr.bytes.length + tests.length > 0
}

function tellRun(writer: Writer, seen: Seen): void {
  const { compile, tests, isBase64, record } = seen
  if (compile !== null && writer.position.compile === 0)
    writer.add('compile', JSON.stringify({ output: compile }), { compile: 1 })
  for (const output of ['stdout', 'stderr'] as const) {
    const { start, bytes } = seen[output]
    const told = writer.position[output]
    // A gap is filled when more is known.
    if (start > told) continue
    let left = bytes.subarray(told - start)
    while (left.length > 0) {
      const length = isBase64
        ? Math.min(left.length, longestText)
        : cutBetweenCharacters(left, longestText, record !== null)
      if (length === 0) break
      const offset = writer.position[output]
      const piece = left.subarray(0, length)
      const data = isBase64
        ? { offset, base64: Buffer.from(piece).toString('base64') }
        : { offset, text: decoder.decode(piece) }
      writer.add(output, JSON.stringify(data), { [output]: offset + length })
      left = left.subarray(length)
    }
  }
  for (const { index, json } of tests)
    if (index === writer.position.test) writer.add('test', json, { test: index + 1 })
}

/** @param isWhole nothing follows: half a character at the end is all there is of it. @returns how many bytes of these. */
function cutBetweenCharacters(bytes: Uint8Array, most: number, isWhole: boolean): number {
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
