// Keeps compiled programs, so that the same code with other input compiles once: on disk, and those used last in memory,
// where a hit reads and writes no file. Only what is certain to come out the same again is kept: a compiler stopped by a limit is asked anew.
import { createHash, randomUUID } from 'node:crypto'
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import type { Artefact } from './language/language.ts'
import type { Phase } from './outcome.ts'

/** A compile phase and what it made; null when the program did not compile. */
export interface Compiled {
  readonly phase: Phase
  readonly artefact: Artefact | null
}

export interface ArtefactCache {
  /** Returns what is kept under the key, or compiles; one compiler at a time for one key. */
  compile(
    key: string,
    compiler: () => Promise<Compiled>,
    isCertain: (compiled: Compiled) => boolean,
  ): Promise<{ readonly compiled: Compiled; readonly cached: boolean }>
}

/** Key of a compilation: everything that decides its result. */
export function hashSource(language: string, identity: string, code: Uint8Array): string {
  return createHash('sha256').update(`${language}\0${identity}\0`).update(code).digest('hex')
}

/** Bytes of artefacts and messages kept in memory; one that alone takes a quarter is kept on disk only. */
const memoryBytes = 32 * 1024 * 1024

/** @param directory made with mode 0700; other workers may share it. @param capacityBytes 0 keeps nothing. */
export function createArtefactCache(directory: string, capacityBytes: number): ArtefactCache {
  const inFlight = new Map<string, Promise<Compiled>>()
  // Least recently used first.
  const sizes = new Map<string, number>()
  let total = 0
  // Read once from disk, checked then, and ours alone since.
  const inMemory = new Map<string, Compiled>()
  let inMemoryTotal = 0
  if (capacityBytes > 0) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    for (const { name, bytes } of listByAge(directory)) note(name, bytes)
    evict()
  }

  function note(name: string, bytes: number): void {
    total += bytes - (sizes.get(name) ?? 0)
    sizes.delete(name)
    sizes.set(name, bytes)
  }

  function evict(): void {
    for (const [name, bytes] of sizes) {
      if (total <= capacityBytes) return
      rmSync(`${directory}/${name}`, { force: true })
      sizes.delete(name)
      release(name)
      total -= bytes
    }
  }

  function hold(key: string, compiled: Compiled): void {
    const bytes = measure(compiled)
    if (bytes > memoryBytes / 4) return
    release(key)
    inMemory.set(key, compiled)
    inMemoryTotal += bytes
    for (const oldest of inMemory.keys()) {
      if (inMemoryTotal <= memoryBytes) return
      release(oldest)
    }
  }

  function release(key: string): void {
    const held = inMemory.get(key)
    if (held === undefined) return
    inMemory.delete(key)
    inMemoryTotal -= measure(held)
  }

  function find(key: string): Compiled | null {
    const held = inMemory.get(key)
    if (held === undefined) return read(key)
    // Both lists begin with what was used longest ago.
    inMemory.delete(key)
    inMemory.set(key, held)
    const bytes = sizes.get(key)
    if (bytes !== undefined) note(key, bytes)
    return held
  }

  function read(key: string): Compiled | null {
    if (capacityBytes === 0) return null
    const file = `${directory}/${key}`
    try {
      const bytes = readFileSync(file)
      const compiled = decode(bytes)
      if (compiled === null) {
        rmSync(file, { force: true })
        return null
      }
      const now = new Date()
      utimesSync(file, now, now)
      note(key, bytes.length)
      hold(key, compiled)
      return compiled
    } catch {
      // Not there, or just evicted by a worker that shares the directory.
      return null
    }
  }

  function keep(key: string, compiled: Compiled): void {
    if (capacityBytes === 0) return
    const bytes = encode(compiled)
    if (bytes.length > capacityBytes / 4) return
    const unfinished = `${directory}/${key}.${randomUUID()}`
    try {
      writeFileSync(unfinished, bytes, { mode: 0o444, flag: 'wx' })
      renameSync(unfinished, `${directory}/${key}`)
      note(key, bytes.length)
      evict()
      hold(key, compiled)
    } catch {
      // A full disk costs speed, not results.
      rmSync(unfinished, { force: true })
    }
  }

  return {
    async compile(key, compiler, isCertain) {
      for (;;) {
        const other = inFlight.get(key)
        if (other === undefined) break
        // Another's failure or abort is its own; then it is our turn.
        const compiled = await other.catch(() => null)
        if (compiled !== null && isCertain(compiled)) return { compiled, cached: true }
      }
      const kept = find(key)
      if (kept !== null) return { compiled: kept, cached: true }
      const own = compiler()
      inFlight.set(key, own)
      try {
        const compiled = await own
        if (isCertain(compiled)) keep(key, compiled)
        return { compiled, cached: false }
      } finally {
        inFlight.delete(key)
      }
    },
  }
}

function measure({ phase, artefact }: Compiled): number {
  return phase.stderr.length + (artefact?.content.length ?? 0)
}

/** What a crashed worker left unfinished is removed on the way. */
function listByAge(directory: string): { name: string; bytes: number }[] {
  const found: { name: string; bytes: number; time: number }[] = []
  for (const name of readdirSync(directory)) {
    try {
      const { size, mtimeMs } = statSync(`${directory}/${name}`)
      const stale = mtimeMs < Date.now() - 3_600_000
      if (/^[0-9a-f]{64}$/.test(name)) found.push({ name, bytes: size, time: mtimeMs })
      else if (stale) rmSync(`${directory}/${name}`, { force: true })
    } catch {
      // Evicted by a worker that shares the directory.
    }
  }
  return found.toSorted((left, right) => left.time - right.time)
}

interface Header {
  readonly phase: Omit<Phase, 'stdout' | 'stderr'>
  readonly stderr: string
  readonly entry: string | null
  readonly sha256: string
}

/** One line of JSON, then the artefact's bytes. */
function encode({ phase, artefact }: Compiled): Buffer {
  const { stdout: _, stderr, ...rest } = phase
  const content = artefact?.content ?? new Uint8Array()
  const header: Header = {
    phase: rest,
    stderr: Buffer.from(stderr).toString('base64'),
    entry: artefact?.entry ?? null,
    sha256: createHash('sha256').update(content).digest('hex'),
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), content])
}

/** Null when the bytes are not what was written: a disk may have lost some in a crash. */
function decode(bytes: Buffer): Compiled | null {
  const end = bytes.indexOf(10)
  if (end === -1) return null
  // The directory is ours alone and the checksum below tells a damaged file.
  const header: Header = JSON.parse(bytes.toString('utf8', 0, end))
  const { phase, stderr, entry, sha256 } = header
  const content = bytes.subarray(end + 1)
  if (createHash('sha256').update(content).digest('hex') !== sha256) return null
  return {
    phase: { ...phase, stdout: new Uint8Array(), stderr: Buffer.from(stderr, 'base64') },
    artefact: entry === null ? null : { content, entry },
  }
}
