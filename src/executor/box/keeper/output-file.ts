// Puts together the files that a keeper reads when a run is over (output.c).
import { outputFilesBytesMost, SandboxError } from '#contract'
import type { OutputFile } from '#contract'
import * as structure from './structure.ts'

/** Of one run. */
export interface OutputFiles {
  /** @throws {SandboxError} step `keeper.protocol` on a message that cannot be. */
  add(body: Buffer): void
  /** @throws as `add`, when a file is not whole. */
  end(): readonly OutputFile[]
}

interface Arriving {
  readonly index: number
  readonly size: number
  readonly pieces: Buffer[]
  length: number
}

/** @param names as the request has them. */
export function gatherOutputFiles(names: readonly string[]): OutputFiles {
  const arrived: Arriving[] = []
  let room = outputFilesBytesMost

  const isWhole = ({ length, size }: Arriving): boolean => length === size || length === 0

  return {
    add(body) {
      const { sizeBytes } = structure.outputFile
      if (body.length < sizeBytes) throw refuse('a file without its head')
      const { index, size } = structure.outputFile.decode(body.subarray(0, sizeBytes))
      const content = body.subarray(sizeBytes)
      const last = arrived.at(-1)
      const isMore = last?.index === index && content.length > 0 && last.length > 0
      const file = isMore ? last : { index, size, pieces: [], length: 0 }
      if (!isMore) {
        const comes = (last === undefined || isWhole(last)) && index > (last?.index ?? -1)
        if (!comes || index >= names.length || !Number.isSafeInteger(size))
          throw refuse('a file that nobody asked for')
        arrived.push(file)
      }
      file.length += content.length
      room -= content.length
      if (file.length > file.size || size !== file.size || room < 0)
        throw refuse('more of a file than there is')
      file.pieces.push(content)
    },
    end() {
      if (!arrived.every(isWhole)) throw refuse('a part of a file')
      return arrived.map(({ index, size, pieces, length }) => ({
        name: names[index] ?? '',
        size,
        // Copied out of the socket's much larger buffers.
        content: length === size ? Buffer.concat(pieces) : null,
      }))
    },
  }
}

function refuse(words: string): SandboxError {
  return new SandboxError('keeper.protocol', words)
}
