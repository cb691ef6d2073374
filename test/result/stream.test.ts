// A stream that continues from a position sends every byte once, whatever was sent before and wherever a worker has cut.
import * as fc from 'fast-check'
import t from 'tap'
import { atStage, cutBetweenCharacters, formatPosition, nextPosition, outputEvent } from '#report'
import type { LiveEvent } from '#report'
import { beginning, parsePosition } from '#result'
import type { Position } from '#result'
import { continueStory } from '../../src/result/stream/story.ts'
import type { End, Seen } from '../../src/result/stream/story.ts'
import { seed } from '../helper/seed.ts'

interface Sent {
  readonly id: string
  readonly event: string
  readonly data: { readonly offset: number; readonly text?: string; readonly base64?: string }
}

const seen: Seen = { id: 'x', isQueued: false, run: 'a', events: [], end: null }
const noBytes = new Uint8Array()
const end: End = {
  isBase64: false,
  compile: null,
  stdout: noBytes,
  stderr: noBytes,
  tests: [],
  record: '{}',
}
const started = atStage('running', 'a')

function parse(text: string): Sent[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const [id = '', event = '', data = ''] = block.split('\n')
      const parsed = JSON.parse(data.slice(6)) as Sent['data']
      return { id: id.slice(4), event: event.slice(7), data: parsed }
    })
}

const follow = (from: Position, more: Partial<Seen> = {}): Sent[] =>
  parse(continueStory(from, { ...seen, ...more }).text)
const names = (from: Position, more: Partial<Seen> = {}): string[] =>
  follow(from, more).map(({ event }) => event)

/** Bytes with many incomplete characters. */
const output = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(...[[0xf0, 0x9f], [0xe2, 0x82], [0xc3], [0x80]].map((one) => Buffer.from(one))), // prettier-ignore
    ),
  )
  .map((parts) => Buffer.concat(parts))

/** Returns the live events of a run that writes so many bytes at a time, as a worker cuts them. */
function cut(bytes: Buffer, isBase64: boolean, writes: readonly number[]): LiveEvent[] {
  let [position, written] = [started, 0]
  return writes.flatMap((more) => {
    written = Math.min(bytes.length, written + more)
    const fresh = bytes.subarray(position.stdout, written)
    const length = isBase64 ? fresh.length : cutBetweenCharacters(fresh, 100, false)
    if (length === 0) return []
    position = nextPosition(position, 'stdout', length)
    return [outputEvent(position, 'stdout', fresh.subarray(0, length), isBase64)]
  })
}

t.test('pieces of an output put together are the output, as the record has it', async (t) => {
  const holds = (): void =>
    fc.assert(
      fc.property(
        output,
        fc.boolean(),
        fc.array(fc.nat(200)),
        fc.nat(20),
        (bytes, isBase64, writes, most) => {
          let position: Position = beginning
          const sent: Sent[] = []
          const look = (more: Partial<Seen>): void => {
            const next = continueStory(position, { ...seen, ...more })
            sent.push(...parse(next.text))
            // A client that reconnects sends the position back as text.
            position = parsePosition(formatPosition(next.position))
          }
          look({ run: null, isQueued: true })
          look({})
          const events = cut(bytes, isBase64, writes)
          for (let n = 0; n < Math.min(events.length, most); n += 1)
            look({ events: events.slice(position.seq, position.seq + 1) })
          look({ end: { ...end, isBase64, stdout: bytes } })
          const outputs = sent.filter(({ event }) => event === 'stdout').map(({ data }) => data)
          if (new Set(sent.map(({ id }) => id)).size !== sent.length) return false
          if (isBase64) {
            const joined = Buffer.concat(outputs.map((data) => Buffer.from(data.base64 ?? '', 'base64'))) // prettier-ignore
            return joined.equals(bytes) && sent.at(-1)?.event === 'result'
          }
          const whole = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
          return outputs.map(({ text }) => text).join('') === whole
        },
      ),
      { numRuns: 2000, seed },
    )
  t.doesNotThrow(holds)
})

t.test('a long output of a record is cut into events', async (t) => {
  const stdout = Buffer.from('€'.repeat(100_000))
  const outputs = follow(beginning, { end: { ...end, stdout } }).filter(
    ({ event }) => event === 'stdout',
  )
  t.ok(outputs.every(({ data }) => /^€+$/.test(data.text ?? '')))
  t.equal(outputs.length, Math.ceil(300_000 / 65_535))
})

t.test('an attempt that was lost begins anew, in each way in which it may be seen', async (t) => {
  const events = [
    outputEvent(nextPosition(started, 'stdout', 3), 'stdout', Buffer.from('abc'), false),
  ]
  const stdout = Buffer.from('abc')
  const first = continueStory(beginning, { ...seen, events }).position
  t.strictSame(names(first, { run: 'b', events }), ['status', 'status', 'stdout'])
  const waiting = continueStory(first, { ...seen, isQueued: true })
  const told = parse(waiting.text).map(({ event }) => event)
  t.strictSame(told, ['status'])
  const { position } = waiting
  t.strictSame(names(position, { isQueued: true }), [])
  t.strictSame(names(position, { run: 'b', events }), ['status', 'stdout'])
  // The attempt was not lost after all.
  t.strictSame(names(position, { events }), ['status', 'stdout'])
  t.strictSame(names(position, { end: { ...end, stdout } }), ['status', 'stdout', 'result'])
  // The submission was abandoned, or cancelled while it waited.
  t.strictSame(names(position, { end }), ['result'])
  t.strictSame(names(beginning, { run: null, end }), ['submitted', 'status', 'result'])
})

t.test('what the compiler said and tests are sent once, live or by the record', async (t) => {
  const ended = { ...end, compile: 'careful', tests: ['{"index":0}', '{"index":1}'] }
  const all = follow(started, { end: ended })
  const told = all.map(({ event }) => event)
  t.strictSame(told, ['compile', 'test', 'test', 'result'])
  for (const [index, { id }] of all.entries())
    t.strictSame(follow(parsePosition(id), { end: ended }), all.slice(index + 1))
})

t.test('an attempt whose start a crash has forgotten gives no id twice', async (t) => {
  const ids: string[] = []
  let from = beginning
  const look = (more: Partial<Seen>): void => {
    const { text, position } = continueStory(from, { ...seen, ...more })
    ids.push(...parse(text).map(({ id }) => id))
    from = position
  }
  look({ run: null, isQueued: true })
  look({})
  look({ run: null, isQueued: true })
  look({ run: null, isQueued: true })
  look({ run: 'b' })
  look({ run: 'b', end })
  t.strictSame(ids.length, 6)
  t.equal(new Set(ids).size, ids.length)
})
