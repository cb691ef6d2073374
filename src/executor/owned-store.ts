// Keeps files for owners, each of whom finds only his own. What was not used for longest goes first, of whoever has most: so
// nobody can see by what he still has how busy the others are. The directory is the worker's alone, no box sees it; other
// workers of its user may share it. What this process did not write itself is checked when it is first read: a crash may have
// damaged it.
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'

export interface OwnedStore {
  /**
   * Null: not there, or not whole, and then it is removed.
   * @param isWhole whether these are the bytes that were kept; asked once after each start.
   */
  read(file: string, isWhole: (bytes: Buffer) => boolean | Promise<boolean>): Promise<Buffer | null>
  /** Not when it is larger than a quarter of all; a full disk costs speed, not results. */
  keep(file: string, bytes: Uint8Array): Promise<void>
  /** Removes those that were not used for so long. */
  forgetUnused(milliseconds: number): void
}

/** A file's name. @param key 64 hexadecimal digits. */
export function nameFile(owner: string, key: string): string {
  return `${createHash('sha256').update(owner).digest('hex').slice(0, 32)}-${key}`
}

/** The owner's part of such a name. */
function ownerOf(name: string): string {
  return name.slice(0, name.indexOf('-'))
}

/** A file of up to this size is read at once: five ways to a thread and back take longer than copying it. */
const readAtOnceBytes = 1024 * 1024

interface Share {
  bytes: number
  /** Sizes by name, the least recently used first. */
  readonly files: Map<string, number>
}

/** @param directory made with mode 0700. @param capacityBytes 0 keeps nothing. */
export function openOwnedStore(directory: string, capacityBytes: number): OwnedStore {
  /** By owner. */
  const shares = new Map<string, Share>()
  let total = 0
  /** Files that were written or checked here, with their sizes. */
  const checked = new Map<string, number>()

  function forget(file: string): void {
    const share = shares.get(ownerOf(file))
    const bytes = share?.files.get(file)
    if (share === undefined || bytes === undefined) return
    share.files.delete(file)
    share.bytes -= bytes
    total -= bytes
    if (share.files.size === 0) shares.delete(ownerOf(file))
  }

  /** It is there, and was used just now. */
  function note(file: string, bytes: number): void {
    forget(file)
    const share = shares.get(ownerOf(file)) ?? { bytes: 0, files: new Map<string, number>() }
    shares.set(ownerOf(file), share)
    // A file takes a block at least, so that their number is bounded, too.
    const taken = Math.max(bytes, 4096)
    share.files.set(file, taken)
    share.bytes += taken
    total += taken
  }

  function remove(file: string): void {
    forget(file)
    rmSync(`${directory}/${file}`, { force: true })
    checked.delete(file)
  }

  /** The least recently used file of the owner who holds most: nobody loses one to an owner who holds more. */
  function evict(): void {
    while (total > capacityBytes) {
      const largest = [...shares.values()].reduce((one, other) =>
        other.bytes > one.bytes ? other : one,
      )
      const [file = ''] = largest.files.keys()
      remove(file)
    }
  }

  if (capacityBytes > 0) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    for (const { name, bytes } of listByAge(directory)) note(name, bytes)
    evict()
  }
  return {
    async read(file, isWhole) {
      if (capacityBytes === 0) return null
      const path = `${directory}/${file}`
      const known = checked.get(file)
      const bytes =
        known !== undefined && known <= readAtOnceBytes
          ? readAtOnce(path)
          : await readFile(path).catch(() => null)
      if (bytes === null) return null
      if (known !== bytes.length && !(await isWhole(bytes))) {
        remove(file)
        return null
      }
      checked.set(file, bytes.length)
      note(file, bytes.length)
      const now = new Date()
      // Nobody waits for it: only what leaves first is decided by it, after a start.
      void utimes(path, now, now).catch(() => {})
      return bytes
    },
    async keep(file, bytes) {
      if (bytes.length > capacityBytes / 4 || capacityBytes === 0) return
      const unfinished = `${directory}/${file}.${randomUUID()}`
      try {
        await writeFile(unfinished, bytes, { mode: 0o400, flag: 'wx' })
        await rename(unfinished, `${directory}/${file}`)
      } catch {
        await rm(unfinished, { force: true }).catch(() => {})
        return
      }
      checked.set(file, bytes.length)
      note(file, bytes.length)
      evict()
    },
    forgetUnused(milliseconds) {
      if (capacityBytes === 0) return
      const old = listByAge(directory).filter(({ time }) => time < Date.now() - milliseconds)
      for (const { name } of old) remove(name)
    },
  }
}

function readAtOnce(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    return null
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
