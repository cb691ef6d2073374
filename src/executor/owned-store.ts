// Keeps files on disk for owners; each owner finds only its own files. When space runs out, the owner that holds most loses its
// least recently used file, so that an owner's remaining files do not show how busy the others are. No box shows the directory;
// other workers of the same user may share it. Each file begins with the SHA-256 of the rest. A file that this process did not
// write is checked at its first read, because a crash may have damaged it.
import { createHash, hash, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'

export interface OwnedStore {
  /** Reads a file. Null when it does not exist or is damaged; a damaged file is removed. */
  read(file: string): Promise<Buffer | null>
  /**
   * Writes a file, unless it is larger than a quarter of the capacity. A failed write is ignored: it costs speed, not results.
   */
  keep(file: string, bytes: Uint8Array): Promise<void>
  /** Removes the files that were not used for this long. */
  forgetUnused(milliseconds: number): void
}

/** Returns the name of an owner's file. @param key 64 hexadecimal digits. */
export function nameFile(owner: string, key: string): string {
  return `${hash('sha256', owner).slice(0, 32)}-${key}`
}

/** Returns the owner's part of a file name. */
function ownerOf(name: string): string {
  return name.slice(0, name.indexOf('-'))
}

interface Share {
  bytes: number
  /** Sizes by name, the least recently used first. */
  readonly files: Map<string, number>
}

/** @param directory made with mode 0700. @param capacityBytes 0 keeps nothing. */
export function openOwnedStore(directory: string, capacityBytes: number): OwnedStore {
  /** Shares by owner. */
  const shares = new Map<string, Share>()
  let total = 0
  /** Sizes of the files that this process has written or checked. */
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

  /** Records that a file exists and was just used. */
  function note(file: string, bytes: number): void {
    forget(file)
    const share = shares.get(ownerOf(file)) ?? { bytes: 0, files: new Map<string, number>() }
    shares.set(ownerOf(file), share)
    // A file counts as one block at least, so that the number of files is bounded, too.
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
    async read(file) {
      if (capacityBytes === 0) return null
      const known = checked.get(file)
      const whole = await readUsed(`${directory}/${file}`, known)
      if (whole === null) return null
      const bytes = whole.subarray(digestBytes)
      if (known !== whole.length && !whole.subarray(0, digestBytes).equals(await digest(bytes))) {
        remove(file)
        return null
      }
      checked.set(file, whole.length)
      note(file, whole.length)
      return bytes
    },
    async keep(file, bytes) {
      if (bytes.length > capacityBytes / 4 || capacityBytes === 0) return
      const unfinished = `${directory}/${file}.${randomUUID()}`
      try {
        await writeFile(unfinished, [await digest(bytes), bytes], { mode: 0o400, flag: 'wx' })
        await rename(unfinished, `${directory}/${file}`)
      } catch {
        await rm(unfinished, { force: true }).catch(() => {})
        return
      }
      checked.set(file, digestBytes + bytes.length)
      note(file, digestBytes + bytes.length)
      evict()
    },
    forgetUnused(milliseconds) {
      if (capacityBytes === 0) return
      const old = listByAge(directory).filter(({ time }) => time < Date.now() - milliseconds)
      for (const { name } of old) remove(name)
    },
  }
}

const digestBytes = 32

/** Number of bytes that are hashed without a break: the process does nothing else meanwhile. */
const hashedAtOnce = 1024 * 1024

async function digest(bytes: Uint8Array): Promise<Buffer> {
  const whole = createHash('sha256')
  for (let at = 0; at < bytes.length; at += hashedAtOnce) {
    if (at > 0) await nextTurn()
    whole.update(bytes.subarray(at, at + hashedAtOnce))
  }
  return whole.digest()
}

/** Smaller files are read synchronously, because four calls through Node's thread pool take 0.3 ms. */
const smallBytes = 1024 * 1024

/**
 * Reads a file and sets the time of its last use, which decides after a restart which files are evicted first.
 * @param expectedBytes its size, if known.
 */
async function readUsed(path: string, expectedBytes = Infinity): Promise<Buffer | null> {
  try {
    const bytes = expectedBytes <= smallBytes ? readFileSync(path) : await readFile(path)
    const now = new Date()
    utimesSync(path, now, now)
    return bytes
  } catch {
    return null
  }
}

interface KeptFile {
  readonly name: string
  readonly bytes: number
  /** Time of the last use, in milliseconds of Unix time. */
  readonly time: number
}

/** Lists the files, the least recently used first. Also removes the unfinished files of crashed workers. */
function listByAge(directory: string): KeptFile[] {
  const found: KeptFile[] = []
  for (const name of readdirSync(directory)) {
    try {
      const { size, mtimeMs } = statSync(`${directory}/${name}`)
      const stale = mtimeMs < Date.now() - 3_600_000
      if (/^[0-9a-f]{32}-[0-9a-f]{64}$/.test(name)) found.push({ name, bytes: size, time: mtimeMs })
      else if (stale) rmSync(`${directory}/${name}`, { force: true })
    } catch {
      // Another worker that shares the directory has evicted the file.
    }
  }
  return found.toSorted((left, right) => left.time - right.time)
}
