// Keeps standard headers precompiled for GCC: parsing them is most of a small program's compilation. A worker's first
// start makes all, beside the runs and from constant lines: no header shows what others compile. Until then, and in any
// doubt, programs read the header itself. One directory per header, complete or absent (header-directory.ts):
//
//   <directory>/<key of compiler and options>/<header, / as _>
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { HostPath } from '#contract'
import { openPart, sweep } from '../background.ts'
import type { Workshop } from '../definition.ts'
import { isIntact, makeDirectory } from './header-directory.ts'
import type { Compilation } from './header-directory.ts'

/** These take GCC over 50 ms; those of C take 2 ms. Some 0.5 GB, half of it the first two and the streams. */
const commonHeaders: readonly string[] = (
  'bits/stdc++.h iostream sstream fstream iomanip string memory functional ' +
  'vector deque queue stack map set unordered_map algorithm cmath'
).split(' ')

/**
 * The name in `#include <name>` if that is the first directive, before any code; else null: a precompiled header may stand for this
 * one alone, and only if nothing before it, such as a macro or a pragma, can change its meaning.
 */
export function findFirstInclude(code: Uint8Array): string | null {
  return firstInclude.exec(Buffer.from(code).toString('latin1'))?.[1] ?? null
}

// White space and comments, then the directive alone on its line. A backslash could continue a line, so it is doubt.
const firstInclude =
  /^(?:[ \t\n]|\r\n|\/\/[^\n\\]*\n|\/\*(?:[^*\\]|\*(?!\/))*\*\/)*#[ \t]*include[ \t]*<([\w./+]+)>[ \t]*(?:\r?\n|$)/

export interface PrecompiledHeaders {
  /** Shown in boxes as long as the worker lives. */
  readonly path: HostPath | null
  /** The directory in the box with this precompiled header alone; null while there is none. */
  find(header: string | null): string | null
}

export const noPrecompiledHeaders: PrecompiledHeaders = { path: null, find: () => null }

/** The directory's place in boxes, which shows nothing of the host. */
const target = '/precompiled'

const nameDirectory = (header: string): string => header.replaceAll('/', '_')

/**
 * Starts to make what is missing.
 * @param directory may be shared with other workers and outlives them.
 * @param headers in the order in which they are made.
 */
export function keepPrecompiledHeaders(
  { directory, signal, track }: Workshop,
  compilation: Compilation,
  headers: readonly string[] = commonHeaders,
): PrecompiledHeaders {
  const key = createHash('sha256').update(compilation.identity).digest('hex')
  const own = openPart(directory, key)
  const ready = new Set<string>()
  async function prepareAll(): Promise<void> {
    await sweep(directory, key).catch(() => {})
    for (const header of headers) {
      const path = `${own}/${nameDirectory(header)}`
      const isThere = await prepare(path, header, compilation, signal).catch(() => false)
      if (signal.aborted) return
      if (isThere) ready.add(header)
    }
  }
  track(prepareAll())
  return {
    path: { source: own, target },
    find: (header) =>
      header !== null && ready.has(header) ? `${target}/${nameDirectory(header)}/include` : null,
  }
}

/** @returns whether it is there now, and whole. */
async function prepare(
  path: string,
  header: string,
  compilation: Compilation,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted()
  const existed = existsSync(path)
  // The second check reads a new file in full, so that its pages are charged to the worker and no program.
  if (await isIntact(path, header)) return true
  if (existed) await rm(path, { recursive: true, force: true })
  await makeDirectory(path, header, compilation, signal)
  return isIntact(path, header)
}
