// Keeps the first bytes of an output, counts the rest. Copies out of the stream's buffers: a flood takes no more memory
// than the limit.
import type { Readable } from 'node:stream'
import type { Captured } from '#contract'

export interface Capture {
  /** Resolves when the stream has ended or was destroyed. */
  readonly ended: Promise<void>
  captured(): Captured
  /** A copy of at most so many bytes of what was kept, from this one on. */
  read(from: number, most: number): Buffer
}

/**
 * @param keptBytes how much is kept.
 * @param limitBytes beyond this `onPass` is called, once.
 * @param onKept called whenever more is kept.
 */
export function captureOutput(
  stream: Readable,
  keptBytes: number,
  limitBytes: number,
  onPass: () => void,
  onKept: () => void = () => {},
): Capture {
  let kept = Buffer.allocUnsafe(Math.min(keptBytes, 4096))
  let length = 0
  let received = 0
  let hasPassed = false
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length
    const taken = Math.min(chunk.length, keptBytes - length)
    if (taken > 0) {
      if (length + taken > kept.length) {
        const wanted = Math.min(keptBytes, Math.max(kept.length * 2, length + taken))
        const grown = Buffer.allocUnsafe(wanted)
        kept.copy(grown, 0, 0, length)
        kept = grown
      }
      chunk.copy(kept, length, 0, taken)
      length += taken
      onKept()
    }
    if (received > limitBytes && !hasPassed) {
      hasPassed = true
      onPass()
    }
  })
  // The output's end; how the program ended is read elsewhere.
  stream.on('error', () => {})
  return {
    ended: new Promise((resolve) => {
      stream.once('close', () => resolve())
    }),
    read: (from, most) => Buffer.from(kept.subarray(from, Math.min(length, from + most))),
    captured: () => ({
      bytes: kept.subarray(0, length),
      truncated: received > length,
      passed: hasPassed,
    }),
  }
}
