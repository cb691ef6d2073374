// Standard streams alone: their directory never holds more than spare pipes, and no descriptor stays open.
import t from 'tap'
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStandardStreams } from '../../src/executor/standard-stream.ts'

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
