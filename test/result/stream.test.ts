// What a watcher is told, whatever he has been told before and however little is known each time: every byte once.
import * as fc from 'fast-check'
import t from 'tap'
import { beginning, formatPosition, parsePosition } from '#result'
import type { Position } from '#result'
import { advance } from '../../src/result/stream/advance.ts'
import type { Seen } from '../../src/result/stream/advance.ts'
import { seed } from '../helper/seed.ts'

interface Told {
  readonly event: string
  readonly data: { readonly offset: number; readonly text?: string; readonly base64?: string }
}

const nothing: Seen = {
  id: 'x',
  isQueued: false,
  run: 'a',
  isBase64: false,
  compile: null,
  stdout: { start: 0, bytes: new Uint8Array() },
  stderr: { start: 0, bytes: new Uint8Array() },
  tests: [],
  record: null,
}

function parse(text: string): Told[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const [, event = '', data = ''] = block.split('\n')
      return { event: event.slice(7), data: JSON.parse(data.slice(6)) as Told['data'] }
    })
}

/** Bytes among which there is much that is half a character. */
const output = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(...[[0xf0, 0x9f], [0xe2, 0x82], [0xc3], [0x80]].map((one) => Buffer.from(one))), // prettier-ignore
    ),
  )
  .map((parts) => Buffer.concat(parts))

t.test('pieces of an output put together are the output, as the record has it', async (t) => {
  const holds = (): void =>
    fc.assert(
      fc.property(
        output,
        fc.boolean(),
        fc.array(fc.tuple(fc.nat(200), fc.nat(60), fc.boolean())),
        (bytes, isBase64, looks) => {
          let position: Position = beginning
          const told: Told[] = []
          const look = (seen: Seen): void => {
            const next = advance(position, { ...seen, isBase64 })
            told.push(...parse(next.text))
            // As who comes back.
            position = parsePosition(formatPosition(next.position))
          }
          look({ ...nothing, run: null, isQueued: true })
          let known = 0
          for (const [more, before, fromStart] of looks) {
            known = Math.min(bytes.length, known + more)
            const start = fromStart ? 0 : Math.max(0, position.stdout - before)
            look({ ...nothing, stdout: { start, bytes: bytes.subarray(start, known) } })
          }
          look({ ...nothing, stdout: { start: 0, bytes }, record: '{}' })
          const outputs = told.filter(({ event }) => event === 'stdout').map(({ data }) => data)
          if (isBase64) {
            const joined = Buffer.concat(outputs.map((data) => Buffer.from(data.base64 ?? '', 'base64'))) // prettier-ignore
            return joined.equals(bytes) && told.at(-1)?.event === 'result'
          }
          const whole = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
          return outputs.map(({ text }) => text).join('') === whole
        },
      ),
      { numRuns: 2000, seed },
    )
  t.doesNotThrow(holds)
})

t.test('a long output is cut into events', async (t) => {
  const bytes = Buffer.from('€'.repeat(100_000))
  const { text } = advance(beginning, { ...nothing, stdout: { start: 0, bytes }, record: '{}' })
  const outputs = parse(text).filter(({ event }) => event === 'stdout')
  t.ok(outputs.every(({ data }) => /^€+$/.test(data.text ?? '')))
  t.equal(outputs.length, Math.ceil(300_000 / 65_535))
})

t.test('what was told up to a gap waits until the gap is filled', async (t) => {
  const running = advance(beginning, nothing).position
  const late = { start: 5, bytes: Buffer.from('late') }
  t.strictSame(advance(running, { ...nothing, stdout: late }), { text: '', position: running })
})

t.test('an attempt that was lost begins anew, in each way in which it may be seen', async (t) => {
  const stdout = { start: 0, bytes: Buffer.from('abc') }
  const first = advance(beginning, { ...nothing, stdout }).position
  const names = (from: Position, seen: Seen): string[] =>
    parse(advance(from, seen).text).map(({ event }) => event)
  t.strictSame(names(first, { ...nothing, run: 'b', stdout }), ['status', 'status', 'stdout'])
  const waiting = advance(first, { ...nothing, isQueued: true })
  t.strictSame(
    parse(waiting.text).map(({ event }) => event),
    ['status'],
  )
  t.strictSame(names(waiting.position, { ...nothing, isQueued: true }), [])
  t.strictSame(names(waiting.position, { ...nothing, run: 'b', stdout }), ['status', 'stdout'])
  // It was not lost after all.
  t.strictSame(names(waiting.position, { ...nothing, stdout }), ['status', 'stdout'])
  t.strictSame(names(waiting.position, { ...nothing, stdout, record: '{}' }), ['status', 'stdout', 'result']) // prettier-ignore
  // It was given up, or cancelled while it waited.
  t.strictSame(names(waiting.position, { ...nothing, record: '{}' }), ['result'])
  t.strictSame(names(beginning, { ...nothing, run: null, record: '{}' }), ['submitted', 'status', 'result']) // prettier-ignore
})

t.test(
  'an attempt whose start a crash has forgotten is followed by no position that was told',
  async (t) => {
    const positions: string[] = []
    let from = beginning
    const look = (seen: Seen): void => {
      const { text, position } = advance(from, seen)
      positions.push(...text.matchAll(/^id: (.*)$/gm).map(([, id = '']) => id))
      from = position
    }
    look({ ...nothing, run: null, isQueued: true })
    look(nothing)
    look({ ...nothing, run: null, isQueued: true })
    look({ ...nothing, run: null, isQueued: true })
    look({ ...nothing, run: 'b' })
    look({ ...nothing, run: 'b', record: '{}' })
    t.strictSame(positions.length, 6)
    t.equal(new Set(positions).size, positions.length)
  },
)
