// Collects the output files that a keeper sends when a run is over (output.c).
import { outputFilesBytesMost, SandboxError } from '#contract'
import type { OutputFile } from '#contract'
import { readNumber } from './message.ts'
import type { Message } from './message.ts'

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
