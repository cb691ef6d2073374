// Reads the zip of additional files. It may be hostile, so it is read in small pieces and little is inflated beyond the limit.
import { Unzip, UnzipInflate, UnzipPassThrough } from 'fflate'

const filesMost = 64
const bytesMost = 1024 * 1024
// At most a thousand times as many bytes are inflated at once.
const pieceBytes = 1024

interface ZippedFile {
  readonly name: string
  readonly content: Buffer
}

/** Reads the files of a zip without its folders, or returns what is wrong with it. */
export function readZip(bytes: Uint8Array): readonly ZippedFile[] | string {
  const files: { readonly name: string; readonly parts: Uint8Array[]; isWhole: boolean }[] = []
  let total = 0
  const unzip = new Unzip((entry) => {
    const file = { name: entry.name, parts: [] as Uint8Array[], isWhole: false }
    files.push(file)
    if (files.length > 2 * filesMost) throw new TooLargeError()
    entry.ondata = (error, data, isLast) => {
      if (error !== null) throw error
      total += data.byteLength
      if (total > bytesMost) throw new TooLargeError()
      file.parts.push(data)
      file.isWhole = isLast
    }
    entry.start()
  })
  unzip.register(UnzipInflate)
  unzip.register(UnzipPassThrough)
  try {
    for (let at = 0; at < bytes.byteLength; at += pieceBytes)
      unzip.push(bytes.subarray(at, at + pieceBytes), at + pieceBytes >= bytes.byteLength)
  } catch (error) {
    return error instanceof TooLargeError
      ? `must be at most ${filesMost} files of ${bytesMost} bytes in all`
      : notZip
  }
  if (files.length === 0 || files.some(({ isWhole }) => !isWhole)) return notZip
  return files
    .filter(({ name }) => !name.endsWith('/'))
    .map(({ name, parts }) => ({ name, content: Buffer.concat(parts) }))
}

const notZip = 'is not a zip in base64'

class TooLargeError extends Error {}
