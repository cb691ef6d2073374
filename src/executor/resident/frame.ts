// Frames on a stream of bytes: the length in four bytes, big-endian, then the bytes. What counts as one answer is decided
// here: no byte before the question, none too many, none too few.
import type { Socket } from 'node:net'

/** Sends one. */
export function writeFrame(stream: Socket, frame: Uint8Array): void {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(frame.length)
  stream.write(length)
  stream.write(frame)
}

/** Frames as they come, one at a time. */
export interface Frames {
  /** The next frame, which must not have begun before. Rejects when the stream ends first. */
  next(): Promise<Buffer>
  /** What to do about bytes that nobody asked for. */
  onDoubt(stop: () => void): void
}

/** @param largestBytes of a frame; a longer one is the stream's end. */
export function readFrames(stream: Socket, largestBytes: number): Frames {
  let awaited: PromiseWithResolvers<Buffer> | null = null
  let stop = (): void => {}
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
    if (awaited === null) return fail('it spoke unasked')
    chunks.push(chunk)
    received += chunk.length
    if (expected === null && received >= 4) expected = Buffer.concat(chunks).readUInt32BE(0)
    if (expected === null) return
    if (expected > largestBytes || received > expected + 4) return fail('it said too much')
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
  return {
    next() {
      if (isOver) return Promise.reject(new Error('it has ended'))
      awaited = Promise.withResolvers()
      return awaited.promise
    },
    onDoubt: (then) => void (stop = then),
  }
}
