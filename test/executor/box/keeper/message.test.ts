// How the worker cuts and reads a keeper's messages and its report of output files: it rejects all that no keeper sends.
import { resolve } from 'node:path'
import t from 'tap'
import {
  nameBytesMost,
  wordsBytesMost,
  wordsMost,
} from '../../../../src/executor/contract/startable.ts'
import { collectOutputFiles } from '../../../../src/executor/box/keeper/collect-output.ts'
import { readNumber, takeMessage } from '../../../../src/executor/box/keeper/message.ts'
import { evaluateInC } from '../../../helper/c-value.ts'
import { failsAt } from '../../../helper/executor.ts'

const folder = resolve(import.meta.dirname, '../../../../src/executor/box/keeper')

t.test('a request is refused where the keeper would have no room for it', async (t) => {
  const expected = {
    argument_bytes_most: wordsBytesMost,
    strings_most: wordsMost,
    name_bytes_most: nameBytesMost,
  }
  const headers = ['<signal.h>', `"${folder}/keeper.h"`]
  t.strictSame(evaluateInC(headers, Object.keys(expected)), expected)
})

t.test('a message is a line, then as many bytes as it says', async (t) => {
  const bytes = Buffer.from('stdout bytes=2\na\nready\n')
  for (let length = 0; length < 17; length += 1)
    t.equal(takeMessage(bytes.subarray(0, length)), null, `${length} bytes are too few`)
  const first = takeMessage(bytes)
  t.match(first, { kind: 'stdout', body: Buffer.from('a\n') })
  t.match(takeMessage(first!.rest), { kind: 'ready', body: Buffer.alloc(0), rest: Buffer.alloc(0) })
})

t.test('whatever no keeper sends is refused', async (t) => {
  for (const text of ['hello\n', '\n', ' ready\n', 'x'.repeat(1024), 'stdout bytes=1048577\n'])
    t.throws(() => takeMessage(Buffer.from(text)), text.slice(0, 20))
  for (const number of ['', '-1', '1.5', '1e3', '0x1', ' 1', '9007199254740992', 'NaN'])
    t.throws(() => takeMessage(Buffer.from(`stdout bytes=${number}\n`)), number)
  t.throws(() => readNumber(new Map(), 'index'), failsAt('keeper.protocol'))
  t.equal(readNumber(new Map([['index', '9007199254740991']]), 'index'), Number.MAX_SAFE_INTEGER)
})

const names = ['first', 'second', 'third']
const mebibyte = 1024 * 1024

function say(index: number, size: number, content = 0) {
  const fields = new Map(Object.entries({ index, size }).map(([name, n]) => [name, String(n)]))
  return { fields, body: Buffer.alloc(content, index) }
}

t.test('messages become output files', async (t) => {
  const files = collectOutputFiles(names)
  for (const part of [say(1, 2 * mebibyte), say(0, 5, 5), say(2, 0)]) files.add(part)
  t.strictSame(files.list(), [
    { name: 'first', size: 5, content: Buffer.alloc(5) },
    { name: 'second', size: 2 * mebibyte, content: null },
    { name: 'third', size: 0, content: Buffer.alloc(0) },
  ])
})

t.test('an output file that cannot be is refused', async (t) => {
  const wrong: Record<string, ReturnType<typeof say>[]> = {
    'no fields': [{ fields: new Map(), body: Buffer.alloc(1) }],
    'a name that nobody asked for': [say(3, 1, 1)],
    'more than its size': [say(0, 1, 2)],
    'less than its size': [say(0, 4, 2)],
    'one file twice': [say(0, 1, 1), say(0, 1, 1)],
    'more than there is room for': [say(0, mebibyte, mebibyte), say(1, 1, 1)],
  }
  for (const [what, parts] of Object.entries(wrong)) {
    const files = collectOutputFiles(names)
    t.throws(() => {
      for (const part of parts) files.add(part)
    }, failsAt('keeper.protocol'), what) // prettier-ignore
  }
})
