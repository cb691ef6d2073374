// The names of files that a worker keeps for an owner, and what is there of them at its start.
import { createHash } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'

export interface KeptFile {
  readonly name: string
  readonly bytes: number
  /** When it was last used, in milliseconds of Unix time. */
  readonly time: number
}

/** @param key 64 hexadecimal digits. */
export function nameFile(owner: string, key: string): string {
  return `${createHash('sha256').update(owner).digest('hex').slice(0, 32)}-${key}`
}

/** The owner's part of such a name. */
export function ownerOf(name: string): string {
  return name.slice(0, name.indexOf('-'))
}

/** A file takes a block at least, so that their number is bounded, too. */
export function sizeOnDisk(bytes: number): number {
  return Math.max(bytes, 4096)
}

/** The least recently used first. What a crashed worker left unfinished is removed on the way. */
export function listByAge(directory: string): KeptFile[] {
  const found: KeptFile[] = []
  for (const name of readdirSync(directory)) {
    try {
      const { size, mtimeMs } = statSync(`${directory}/${name}`)
      const stale = mtimeMs < Date.now() - 3_600_000
      if (/^[0-9a-f]{32}-[0-9a-f]{64}$/.test(name)) found.push({ name, bytes: size, time: mtimeMs })
      else if (stale) rmSync(`${directory}/${name}`, { force: true })
    } catch {
      // Evicted by a worker that shares the directory.
    }
  }
  return found.toSorted((left, right) => left.time - right.time)
}
