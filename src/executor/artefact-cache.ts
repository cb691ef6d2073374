// Keeps compiled programs on disk, so that the same code is compiled once for many inputs. Each account has its own entries,
// because a hit on another account's entry would show what others compile. Only repeatable results are kept: a compilation that
// a limit stopped is done again.
import { createHash } from 'node:crypto'
import { deserialize, serialize } from 'node:v8'
import { untilAborted } from '#abort'
import type { Phase, PhaseLimits, Source } from '#contract'
import type { Artefact } from '#toolchain'
import { nameFile, openOwnedStore } from './owned-store.ts'

/** A compile phase and its artefact; the artefact is null when the program did not compile. */
export interface Compiled {
  readonly phase: Phase
  readonly artefact: Artefact | null
}

/** The key of a compilation in the cache: its owner, and a hash of everything that decides its result (`hashSource`). */
export interface CacheKey {
  readonly owner: string
  readonly key: string
}

export interface ArtefactCache {
  /**
   * Returns the owner's cached compilation, or compiles. At most one compiler runs at a time for an owner and key.
   * @param stop ends the wait for another request's compiler: rejects with its reason.
   */
  compile(
    key: CacheKey,
    compiler: () => Promise<Compiled>,
    isCertain: (compiled: Compiled) => boolean,
    stop?: AbortSignal,
  ): Promise<{ readonly compiled: Compiled; readonly cached: boolean }>
}

/**
 * Returns the key of a compilation: a hash of everything that decides its result.
 * @param limits of the compiler: with other limits the same source may end with another exit status.
 */
export function hashSource(
  language: string,
  identity: string,
  source: Source,
  limits: PhaseLimits,
): string {
  const { code, files, arguments: args } = source
  // The lengths make the concatenation of the parts unambiguous.
  const sizes = [code.length, ...files.map(({ name, content }) => [name, content.length])]
  const words = [language, identity, limits, args, sizes]
  const whole = createHash('sha256').update(JSON.stringify(words)).update(code)
  for (const { content } of files) whole.update(content)
  return whole.digest('hex')
}

/**
 * Larger artefacts are not kept: hashing and writing 60 MiB would block the worker for half a second. A hello world in Rust
 * has 4 MiB, a program in Go that imports net/http 5.
 */
const artefactBytesMost = 8 * 1024 * 1024

/** So many compilations up to this size stay in memory, too: reading one from disk takes a tenth of a short run. */
const recentMost = { count: 64, bytes: 256 * 1024 } as const

/** @param directory created with mode 0700; other workers may share it. @param capacityBytes 0 keeps nothing. */
export function createArtefactCache(directory: string, capacityBytes: number): ArtefactCache {
  const inFlight = new Map<string, Promise<Compiled>>()
  const store = openOwnedStore(directory, capacityBytes)
  /** The compilations that were made or read last, the oldest first. */
  const recent = new Map<string, Compiled>()

  async function keepOnDisk(name: string, compiled: Compiled): Promise<void> {
    if (countBytes(compiled) <= artefactBytesMost) await store.keep(name, serialize(compiled))
  }

  function keepInMemory(name: string, compiled: Compiled): void {
    if (capacityBytes === 0 || countBytes(compiled) > recentMost.bytes) return
    recent.set(name, compiled)
    const [oldest = ''] = recent.keys()
    if (recent.size > recentMost.count) recent.delete(oldest)
  }

  return {
    async compile({ owner, key }, compiler, isCertain, stop) {
      const name = nameFile(owner, key)
      for (let other = inFlight.get(name); other; other = inFlight.get(name)) {
        // A failure or abort of another request does not count: this request then compiles.
        const compiled = await untilAborted(
          other.catch(() => null),
          stop,
        )
        if (compiled === null) continue
        if (isCertain(compiled)) return { compiled, cached: true }
        // Every waiting request holds a slot. If a limit ended the compilation, all of them compile now, not one after the
        // other.
        break
      }
      const known = recent.get(name)
      if (known !== undefined) return { compiled: known, cached: true }
      let cached = true
      const findOrCompile = async (): Promise<Compiled> => {
        const kept = await store.read(name)
        if (kept !== null) return deserialize(kept)
        cached = false
        return compiler()
      }
      const own = findOrCompile()
      inFlight.set(name, own)
      try {
        const compiled = await own
        if (isCertain(compiled)) {
          if (!cached) await keepOnDisk(name, compiled)
          keepInMemory(name, compiled)
        }
        return { compiled, cached }
      } finally {
        if (inFlight.get(name) === own) inFlight.delete(name)
      }
    },
  }
}

function countBytes({ phase, artefact }: Compiled): number {
  return phase.stderr.length + (artefact?.content.length ?? 0)
}
