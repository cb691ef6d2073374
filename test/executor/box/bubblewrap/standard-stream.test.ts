// Standard streams alone: their directory never holds more than spare pipes, and no descriptor stays open.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import {
  createStandardStreams,
  removeStandardStreams,
} from '../../../../src/executor/box/bubblewrap/standard-stream.ts'

const root = mkdtempSync(join(tmpdir(), 'runledger-test-'))
t.teardown(() => rmSync(root, { recursive: true }))

t.test('input is a nameless file that nobody can write', (t) => {
  const directory = join(root, 'input')
  const streams = createStandardStreams(directory)
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 256))
  const descriptor = streams.openInput(bytes)
  t.same(readFileSync(descriptor), bytes)
  t.equal(fstatSync(descriptor).mode & 0o777, 0o444)
  t.equal(fstatSync(descriptor).nlink, 0)
  t.throws(() => writeSync(descriptor, 'x'))
  closeSync(descriptor)
  t.same(readdirSync(directory), [])
  streams.close()
  t.equal(existsSync(directory), false)
  t.end()
})

t.test('where no stream is asked for, nothing is made', async (t) => {
  const record = join(root, 'none')
  const streams = createStandardStreams(record)
  t.equal(lstatSync(record, { throwIfNoEntry: false }), undefined)
  streams.close()
  t.equal(lstatSync(record, { throwIfNoEntry: false }), undefined)
})

t.test('an output is a pipe that ends when its writer does', async (t) => {
  const streams = createStandardStreams(join(root, 'output'))
  const { childDescriptor, stream } = await streams.openOutput()
  t.ok(fstatSync(childDescriptor).isFIFO())
  t.equal(fstatSync(childDescriptor).nlink, 0)
  writeSync(childDescriptor, 'text')
  closeSync(childDescriptor)
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  t.equal(text, 'text')
  streams.close()
})

t.test(
  'a feed reaches its reader while it is open, and ends with us or with the reader',
  async (t) => {
    const streams = createStandardStreams(join(root, 'feed'))
    const read = async ({ stdout }: ChildProcess): Promise<string> => {
      let text = ''
      for await (const chunk of stdout ?? []) text += String(chunk)
      return text
    }
    const first = await streams.openFeed()
    const copy = spawn('/bin/cat', { stdio: [first.childDescriptor, 'pipe', 'inherit'] })
    closeSync(first.childDescriptor)
    first.stream.write('one ')
    await once(copy.stdout!, 'readable')
    const text = 'x'.repeat(200_000)
    first.stream.end(text)
    t.equal(await read(copy), `one ${text}`)
    const second = await streams.openFeed()
    const reader = startReader(second.childDescriptor)
    second.stream.write('12')
    t.equal(await read(reader), '1')
    const failed = once(second.stream, 'error')
    second.stream.write('3')
    t.match(await failed, [{ code: 'EPIPE' }])
    streams.close()
  },
)

t.test('many at once are all different, and all closed again', async (t) => {
  const streams = createStandardStreams(join(root, 'many'))
  const before = readdirSync('/proc/self/fd').length
  const opened = await Promise.all(Array.from({ length: 120 }, () => streams.openOutput()))
  t.equal(new Set(opened.map(({ childDescriptor }) => fstatSync(childDescriptor).ino)).size, 120)
  await Promise.all(
    opened.map(({ childDescriptor, stream }) => {
      closeSync(childDescriptor)
      return new Promise((resolve) => stream.once('close', resolve).resume())
    }),
  )
  t.equal(readdirSync('/proc/self/fd').length, before)
  streams.close()
})

/** A process that prints what it reads at a gate. */
function startReader(childDescriptor: number): ChildProcess {
  const child = spawn('/usr/bin/head', ['-c', '1'], {
    stdio: [childDescriptor, 'pipe', 'inherit'],
  })
  closeSync(childDescriptor)
  return child
}

t.test('a gate lets its reader go by its byte', async (t) => {
  const streams = createStandardStreams(join(root, 'opened'))
  const gate = await streams.openGate()
  const child = startReader(gate.childDescriptor)
  gate.open()
  gate.close()
  let text = ''
  for await (const chunk of child.stdout ?? []) text += String(chunk)
  t.equal(text, '1')
  streams.close()
})

t.test('a gate that is closed without its byte holds its reader for ever', async (t) => {
  const streams = createStandardStreams(join(root, 'closed'))
  const gate = await streams.openGate()
  const child = startReader(gate.childDescriptor)
  gate.close()
  const ended = once(child, 'exit')
  t.equal(await Promise.race([ended.then(() => 'ended'), delay(500, 'waits')]), 'waits')
  child.kill('SIGKILL')
  await ended
  streams.close()
})

t.test('what a dead worker left is removed by its record, and no more than that', async (t) => {
  const record = join(root, 'left')
  const streams = createStandardStreams(record)
  const gate = await streams.openGate()
  closeSync(gate.childDescriptor)
  gate.close()
  const directory = readlinkSync(record)
  t.match(directory, /^\/tmp\/[0-9a-f-]{36}$/)
  t.equal(statSync(directory).mode & 0o777, 0o700)
  t.ok(readdirSync(directory).every((name) => statSync(join(directory, name)).mode & 0o1000))
  removeStandardStreams(record)
  t.equal(existsSync(directory), false)
  t.equal(lstatSync(record, { throwIfNoEntry: false }), undefined)
  removeStandardStreams(record)

  // A name in /tmp may have become somebody else's since.
  const other = join(root, 'other')
  mkdirSync(other)
  symlinkSync(other, record)
  if (process.getuid?.() === 0) chownSync(other, 61_000, 61_000)
  removeStandardStreams(record)
  t.equal(existsSync(other), process.getuid?.() === 0)
  t.equal(lstatSync(record, { throwIfNoEntry: false }), undefined)
})
