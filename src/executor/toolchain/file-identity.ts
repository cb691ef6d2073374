// Which file stands at a path. A program that is replaced is another one, whatever it says of itself.
import { realpathSync, statSync } from 'node:fs'

/** Names the file as it is now, behind all links; null when there is none. */
export function identifyFile(path: string): string | null {
  try {
    const real = realpathSync(path)
    const { ino, size, mtimeMs } = statSync(real)
    return `${real} ${ino} ${size} ${mtimeMs}`
  } catch {
    return null
  }
}
