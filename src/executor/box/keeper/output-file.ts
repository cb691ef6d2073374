// Assembles the output files that a keeper sends when a run is over (output.c).
import { outputFilesBytesMost, SandboxError } from '#contract'
import type { OutputFile } from '#contract'
import { readNumber } from './message.ts'
import type { Message } from './message.ts'

/** The output files of one run. */
export interface OutputFiles {
  /** Adds a message. @throws {SandboxError} step `keeper.protocol` when the message is impossible. */
  add(message: Pick<Message, 'fields' | 'body'>): void
  /** Returns the files. @throws as `add` does, when a file is incomplete. */
  end(): readonly OutputFile[]
}

interface Arriving {
  readonly size: number
  readonly pieces: Buffer[]
  length: number
}

/** @param names of the files in the request. */
export function collectOutputFiles(names: readonly string[]): OutputFiles {
  const arrived = new Map<number, Arriving>()
  let room = outputFilesBytesMost
  return {
    add({ fields, body }) {
      const [index, size] = [readNumber(fields, 'index'), readNumber(fields, 'size')]
      if (index >= names.length) throw refuse('an output file that was not requested')
      const file = arrived.get(index) ?? { size, pieces: [], length: 0 }
      file.length += body.length
      room -= body.length
      if (file.length > file.size || size !== file.size || room < 0)
        throw refuse('an output file with more bytes than its size')
      file.pieces.push(body)
      arrived.set(index, file)
    },
    end: () =>
      names.flatMap((name, index) => {
        const file = arrived.get(index)
        if (file === undefined) return []
        const { size, pieces, length } = file
        if (length > 0 && length < size)
          throw refuse('an output file with fewer bytes than its size')
        // Copied, because the socket's buffers are much larger.
        return [{ name, size, content: length === size ? Buffer.concat(pieces) : null }]
      }),
  }
}

function refuse(words: string): SandboxError {
  return new SandboxError('keeper.protocol', words)
}
