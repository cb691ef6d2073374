// Keeps what a keeper sends of a run: its outputs, each up to a number of bytes, and its output files (output.c).
import { outputFilesBytesMost, SandboxError } from '#contract'
import type { Captured, OutputFile } from '#contract'
import { readNumber } from './message.ts'
import type { Message } from './message.ts'

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

/** The output files of one run. */
export interface OutputFiles {
  /** Adds a message. @throws {SandboxError} step `keeper.protocol` when the message is impossible. */
  add(message: Pick<Message, 'fields' | 'body'>): void
  /** Returns the files, in the order of the request. */
  list(): readonly OutputFile[]
}

/** @param names of the files in the request. */
export function collectOutputFiles(names: readonly string[]): OutputFiles {
  const arrived = new Map<number, OutputFile>()
  let room = outputFilesBytesMost
  return {
    add({ fields, body }) {
      const [index, size] = [readNumber(fields, 'index'), readNumber(fields, 'size')]
      const name = names[index]
      const isWhole = body.length === size
      room -= body.length
      if (name === undefined || arrived.has(index) || room < 0 || !(isWhole || body.length === 0))
        throw new SandboxError('keeper.protocol', 'an impossible output file')
      // Copied, because the socket's buffers are much larger.
      arrived.set(index, { name, size, content: isWhole ? Buffer.from(body) : null })
    },
    list: () => names.flatMap((_, index) => arrived.get(index) ?? []),
  }
}
