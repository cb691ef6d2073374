// Several files that a compiler emitted, in one artefact: for each its name and size in a line, then its bytes. Time is
// linear in them: what a compiler of strangers' sources writes is untrusted.
import { isFileName } from '#contract'
import type { BoxFile } from '#contract'

/** A submission has at most 64 files; each may become a few. */
const filesMost = 1024

/** Writes the files in the directory `out` that are not already in the one above it. */
export const writeEmitted = `cd out || exit 1
[ $(find . -type f | wc -l) -le ${filesMost} ] || { echo 'more than ${filesMost} files' >&2; exit 1; }
exec find . -type f -regex '[A-Za-z0-9._/-]*' ! -exec test -e '../{}' ';' -printf '%P %s\\n' -exec cat '{}' ';'`

/** A line is no longer. */
const headerBytesMost = 1024
const header = /^([A-Za-z0-9._/-]+) (0|[1-9]\d{0,9})$/

/**
 * The files as they are to lie in the box.
 * @throws when the bytes are no such artefact.
 */
export function readEmitted(bytes: Buffer): BoxFile[] {
  const files: BoxFile[] = []
  for (let at = 0; at < bytes.length;) {
    const line = bytes.subarray(at, at + headerBytesMost)
    const end = line.indexOf('\n')
    const [, name, size] = header.exec(line.toString('latin1', 0, Math.max(0, end))) ?? []
    if (name === undefined || !isFileName(name) || files.length === filesMost)
      throw new Error('not a list of emitted files')
    const start = at + end + 1
    at = start + Number(size)
    if (at > bytes.length) throw new RangeError(`${name} ends early`)
    const content = bytes.subarray(start, at)
    files.push({ path: `/box/${name}`, content, executable: false })
  }
  return files
}
