// Keeps an output of a program while it arrives, up to a number of bytes.
import type { Captured } from '#contract'

export interface CollectedOutput {
  add(bytes: Buffer): void
  /** Returns the number of bytes kept so far. */
  length(): number
  /** Returns a copy of at most `most` bytes. */
  read(from: number, most: number): Buffer
  captured(receivedBytes: number, limitBytes: number): Captured
}

export function collectOutput(keptBytes: number): CollectedOutput {
  const pieces: Buffer[] = []
  let length = 0
  return {
    add(bytes) {
      const taken = bytes.subarray(0, keptBytes - length)
      if (taken.length === 0) return
      pieces.push(taken)
      length += taken.length
    },
    length: () => length,
    read(from, most) {
      const found: Buffer[] = []
      let begins = 0
      for (const piece of pieces) {
        found.push(piece.subarray(Math.max(0, from - begins), Math.max(0, from + most - begins)))
        begins += piece.length
      }
      return Buffer.concat(found)
    },
    captured(receivedBytes, limitBytes) {
      // Copied, because the socket's buffers are much larger.
      const bytes = Buffer.concat(pieces)
      return { bytes, truncated: receivedBytes > length, exceeded: receivedBytes > limitBytes }
    },
  }
}
