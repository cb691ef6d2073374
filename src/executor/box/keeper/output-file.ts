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
  readonly size: number
  readonly pieces: Buffer[]
  length: number
}

/** @param names as the request has them. */
export function collectOutputFiles(names: readonly string[]): OutputFiles {
  const arrived = new Map<number, Arriving>()
  let room = outputFilesBytesMost
  return {
    add(body) {
      const { sizeBytes } = structure.outputFile
      if (body.length < sizeBytes) throw refuse('a file without its head')
      const { index, size } = structure.outputFile.decode(body.subarray(0, sizeBytes))
      if (index >= names.length || !Number.isSafeInteger(size))
        throw refuse('a file that nobody asked for')
      const file = arrived.get(index) ?? { size, pieces: [], length: 0 }
      const content = body.subarray(sizeBytes)
      file.length += content.length
      room -= content.length
      if (file.length > file.size || size !== file.size || room < 0)
        throw refuse('more of a file than there is')
      file.pieces.push(content)
      arrived.set(index, file)
    },
    end: () =>
      names.flatMap((name, index) => {
        const file = arrived.get(index)
        if (file === undefined) return []
        const { size, pieces, length } = file
        if (length > 0 && length < size) throw refuse('a part of a file')
        // Copied out of the socket's much larger buffers.
        return [{ name, size, content: length === size ? Buffer.concat(pieces) : null }]
      }),
  }
}

function refuse(words: string): SandboxError {
  return new SandboxError('keeper.protocol', words)
}
