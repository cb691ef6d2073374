// Frames on a stream: a length in four bytes, big-endian, then the bytes. An answer must not begin before its request, and must
// have neither surplus nor missing bytes.
import type { Readable, Writable } from 'node:stream'

export function writeFrame(stream: Writable, frame: Uint8Array): void {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(frame.length)
  stream.write(length)
  stream.write(frame)
}

/** Reads the next frame, which must not have started yet. Rejects when the stream ends first. */
export type NextFrame = () => Promise<Buffer>

/**
 * Returns a function that reads the stream's next frame.
 * @param largestBytes of a frame; a longer one ends the stream.
 * @param stop called when the stream has ended, for example because of unexpected bytes.
 */
export function readFrames(stream: Readable, largestBytes: number, stop: () => void): NextFrame {
  let awaited: PromiseWithResolvers<Buffer> | null = null
  let chunks: Buffer[] = []
  let received = 0
  let expected: number | null = null
  let isOver = false
  const fail = (why: string): void => {
    isOver = true
    chunks = []
    awaited?.reject(new Error(why))
    awaited = null
    stop()
  }
  stream.on('data', (chunk: Buffer) => {
    if (isOver) return
    if (awaited === null) return fail('bytes without a request')
    chunks.push(chunk)
    received += chunk.length
    if (expected === null && received >= 4) expected = Buffer.concat(chunks).readUInt32BE(0)
    if (expected === null) return
    if (expected > largestBytes || received > expected + 4) return fail('more bytes than an answer')
    if (received < expected + 4) return
    const frame = Buffer.concat(chunks).subarray(4)
    const { resolve } = awaited
    awaited = null
    chunks = []
    received = 0
    expected = null
    resolve(frame)
  })
  stream.on('error', () => {})
  stream.once('close', () => fail('it ended'))
  return () => {
    if (isOver) return Promise.reject(new Error('it has ended'))
    awaited = Promise.withResolvers()
    return awaited.promise
  }
}
