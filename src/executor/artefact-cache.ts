// Keeps compiled programs on disk, and those used last in memory, so that the same code with other input compiles once; a hit
// on another account's would tell what others compile. Only what would come out the same again is kept: a compiler that a
// limit stopped is asked anew.
import { createHash } from 'node:crypto'
import { untilAborted } from '#abort'
import type { Phase, PhaseLimits, Source } from '#contract'
import type { Artefact } from '#toolchain'
import { createFairShare } from './fair-share.ts'
import { nameFile, openOwnedStore, ownerOf } from './owned-store.ts'

/** A compile phase and what it made; null when the program did not compile. */
export interface Compiled {
  readonly phase: Phase
  readonly artefact: Artefact | null
}

/** A compilation in the cache: whose it is, and what decides its result (`hashSource`). */
export interface CacheKey {
  readonly owner: string
  readonly key: string
}

export interface ArtefactCache {
  /**
   * Returns what is kept for this owner under the key, or compiles; one compiler at a time for both.
   * @param stop ends the wait for another's compiler: rejects with its reason.
   */
  compile(
    key: CacheKey,
    compiler: () => Promise<Compiled>,
    isCertain: (compiled: Compiled) => boolean,
    stop?: AbortSignal,
  ): Promise<{ readonly compiled: Compiled; readonly cached: boolean }>
}

/**
 * Key of a compilation: everything that decides its result.
 * @param limits of the compiler: what one of them makes of a source, with another exit status, is no other's.
 */
export function hashSource(
  language: string,
  identity: string,
  source: Source,
  limits: PhaseLimits,
): string {
  const { code, files, arguments: words } = source
  const hash = createHash('sha256')
  // Lengths keep the parts apart.
  const add = (part: string | Uint8Array): void => {
    const bytes = Buffer.from(part)
    hash.update(`${bytes.byteLength}:`).update(bytes)
  }
  const limitsText = JSON.stringify(
    limits,
    Object.keys(limits).toSorted((a, b) => (a < b ? -1 : 1)),
  )
  for (const part of [language, identity, limitsText, JSON.stringify(words), code]) add(part)
  for (const { name, content } of files) [name, content].forEach(add)
  return hash.digest('hex')
}

/** Bytes of artefacts and messages kept in memory. */
const memoryBytes = 32 * 1024 * 1024
/** What one takes without a message. */
const leastBytes = 1024

/**
 * Larger ones are compiled again: to hash and write 60 MiB would hold up everything else for half a second. A hello in Rust
 * has 4, a program in Go that imports net/http 5.
 */
const artefactBytesMost = 8 * 1024 * 1024

/** @param directory made with mode 0700; other workers may share it. @param capacityBytes 0 keeps nothing. */
export function createArtefactCache(directory: string, capacityBytes: number): ArtefactCache {
  const inFlight = new Map<string, Promise<Compiled>>()
  const memory = createMemory()
  const store = openOwnedStore({ directory, capacityBytes, onGone: memory.forget })

  async function find(name: string): Promise<Compiled | null> {
    const held = memory.find(name)
    if (held !== null) {
      store.use(name)
      return held
    }
    let read: Compiled | null = null
    await store.read(name, (bytes) => (read = decode(bytes)) !== null)
    if (read !== null) memory.hold(name, read)
    return read
  }

  async function keep(name: string, compiled: Compiled): Promise<void> {
    if (measure(compiled) > artefactBytesMost) return
    if (await store.keep(name, encode(compiled))) memory.hold(name, compiled)
  }

  return {
    async compile({ owner, key }, compiler, isCertain, stop) {
      const name = nameFile(owner, key)
      for (;;) {
        const other = inFlight.get(name)
        if (other === undefined) break
        // Another's failure or abort is its own; then it is our turn.
        const compiled = await untilAborted(
          other.catch(() => null),
          stop,
        )
        if (compiled === null) continue
        if (isCertain(compiled)) return { compiled, cached: true }
        // Each that waits has a slot meanwhile: what a limit ended is waited for once, not one after the other.
        break
      }
      let cached = true
      const findOrCompile = async (): Promise<Compiled> => {
        const kept = await find(name)
        if (kept !== null) return kept
        cached = false
        return compiler()
      }
      const own = findOrCompile()
      inFlight.set(name, own)
      try {
        const compiled = await own
        if (!cached && isCertain(compiled)) await keep(name, compiled)
        return { compiled, cached }
      } finally {
        if (inFlight.get(name) === own) inFlight.delete(name)
      }
    },
  }
}

interface Memory {
  find(name: string): Compiled | null
  hold(name: string, compiled: Compiled): void
  forget(name: string): void
}

/** What was read once from disk, checked then, and ours alone since. */
function createMemory(): Memory {
  const compilations = new Map<string, Compiled>()
  const held = createFairShare()
  return {
    find(name) {
      const compiled = compilations.get(name)
      if (compiled === undefined) return null
      held.use(ownerOf(name), name)
      return compiled
    },
    hold(name, compiled) {
      compilations.set(name, compiled)
      held.add(ownerOf(name), name, Math.max(measure(compiled), leastBytes))
      for (const gone of held.shrink(memoryBytes)) compilations.delete(gone.name)
    },
    forget(name) {
      compilations.delete(name)
      held.remove(ownerOf(name), name)
    },
  }
}

function measure({ phase, artefact }: Compiled): number {
  return phase.stderr.length + (artefact?.content.length ?? 0)
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
  const header = parse(bytes.toString('utf8', 0, end))
  if (header?.sha256 === undefined) return null
  const { phase, stderr, entry, sha256 } = header
  const content = bytes.subarray(end + 1)
  if (createHash('sha256').update(content).digest('hex') !== sha256) return null
  return {
    phase: { ...phase, stdout: new Uint8Array(), stderr: Buffer.from(stderr, 'base64') },
    artefact: entry === null ? null : { content, entry },
  }
}

/** The directory is ours alone; what a crash has cut off is no JSON. */
function parse(line: string): Header | null {
  try {
    return JSON.parse(line) as Header
  } catch {
    return null
  }
}
