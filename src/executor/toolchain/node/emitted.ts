// Packs several files that a compiler emitted into one artefact: for each file a line with its name and size, then its bytes.
// Reading takes linear time, because the output of a compiler of strangers' sources is untrusted.
import { isFileName } from '#contract'
import type { BoxFile } from '#contract'

/** A submission has at most 64 files; the compiler may emit a few for each. */
const filesMost = 1024

/** Shell script that writes the files in the directory `out` that do not exist in its parent directory. */
export const writeEmitted = `cd out || exit 1
[ $(find . -type f | wc -l) -le ${filesMost} ] || { echo 'more than ${filesMost} files' >&2; exit 1; }
exec find . -type f -regex '[A-Za-z0-9._/-]*' ! -exec test -e '../{}' ';' -printf '%P %s\\n' -exec cat '{}' ';'`

/** The longest header line. */
const headerBytesMost = 1024
const header = /^([A-Za-z0-9._/-]+) (0|[1-9]\d{0,9})$/

/**
 * Reads the files of an artefact, with their paths in the box.
 * @throws when the bytes are not such an artefact.
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
