// Identifies programs by their files: a replaced program is another, whatever it says of itself.
import { realpathSync, statSync } from 'node:fs'

/** The file behind all links, as it is now; null without one. */
export function identifyFile(path: string): string | null {
  try {
    const real = realpathSync(path)
    const { ino, size, mtimeMs } = statSync(real)
    return `${real} ${ino} ${size} ${mtimeMs}`
  } catch {
    return null
  }
}
