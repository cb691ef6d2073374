// Keeps files for owners, each of whom finds only his own. What was not used for longest goes first, of whoever has most. The
// directory is the worker's alone, no box sees it; other workers of its user may share it. What this process did not write itself is
// checked when it is first read: a crash may have damaged it.
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { createFairShare } from './fair-share.ts'

export interface OwnedStore {
  /**
   * Null: not there, or not whole, and then it is removed.
   * @param isWhole tells whether these are the bytes that were kept; asked once after each start.
   */
  read(file: string, isWhole: (bytes: Buffer) => boolean | Promise<boolean>): Promise<Buffer | null>
  /** Not when it is larger than a quarter of all; a full disk costs speed, not results. @returns whether it is kept. */
  keep(file: string, bytes: Uint8Array): Promise<boolean>
  /** Removes those that were not used for so long. */
  forgetUnused(milliseconds: number): void
}

export interface OwnedStoreOptions {
  /** Made with mode 0700. */
  readonly directory: string
  /** 0 keeps nothing. */
  readonly capacityBytes: number
}

/** A file's name. @param key 64 hexadecimal digits. */
export function nameFile(owner: string, key: string): string {
  return `${createHash('sha256').update(owner).digest('hex').slice(0, 32)}-${key}`
}

/** The owner's part of such a name. */
function ownerOf(name: string): string {
  return name.slice(0, name.indexOf('-'))
}

export function openOwnedStore({ directory, capacityBytes }: OwnedStoreOptions): OwnedStore {
  const held = createFairShare()
  /** Files that were written or checked here, with their sizes. */
  const checked = new Map<string, number>()
  // A file takes a block at least, so that their number is bounded, too.
  const hold = (file: string, bytes: number): void =>
    held.add(ownerOf(file), file, Math.max(bytes, 4096))
  const remove = (file: string): void => {
    held.remove(ownerOf(file), file)
    rmSync(`${directory}/${file}`, { force: true })
    checked.delete(file)
  }
  const evict = (): void => {
    for (const { name } of held.shrink(capacityBytes)) remove(name)
  }
  if (capacityBytes > 0) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    for (const { name, bytes } of listByAge(directory)) hold(name, bytes)
    evict()
  }
  return {
    async read(file, isWhole) {
      if (capacityBytes === 0) return null
      const path = `${directory}/${file}`
      const bytes = await readFile(path).catch(() => null)
      if (bytes === null) return null
      if (checked.get(file) !== bytes.length && !(await isWhole(bytes))) {
        remove(file)
        return null
      }
      checked.set(file, bytes.length)
      hold(file, bytes.length)
      const now = new Date()
      await utimes(path, now, now).catch(() => {})
      return bytes
    },
    async keep(file, bytes) {
      if (bytes.length > capacityBytes / 4 || capacityBytes === 0) return false
      const unfinished = `${directory}/${file}.${randomUUID()}`
      try {
        await writeFile(unfinished, bytes, { mode: 0o400, flag: 'wx' })
        await rename(unfinished, `${directory}/${file}`)
      } catch {
        await rm(unfinished, { force: true }).catch(() => {})
        return false
      }
      checked.set(file, bytes.length)
      hold(file, bytes.length)
      evict()
      return true
    },
    forgetUnused(milliseconds) {
      if (capacityBytes === 0) return
      const old = listByAge(directory).filter(({ time }) => time < Date.now() - milliseconds)
      for (const { name } of old) remove(name)
    },
  }
}

interface KeptFile {
  readonly name: string
  readonly bytes: number
  /** When it was last used, in milliseconds of Unix time. */
  readonly time: number
}

/** The least recently used first. What a crashed worker left unfinished is removed on the way. */
function listByAge(directory: string): KeptFile[] {
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
