// Keeps standard headers precompiled for GCC: parsing them is most of a small program's compilation. A worker's first
// start makes all, beside the runs and from constant lines: no header tells what others compile. Until then, and in any
// doubt, programs read the header itself. One directory per header, complete or absent (header-directory.ts):
//
//   <directory>/<key of compiler, options and our own sources>/driver, library.so      see quick-compiler.ts
//     <header, / as _>            with the templates made that hardly a program uses
//     bits_stdc++.h.careful       with none made, for programs that use one of these; tells what is common
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { HostPath } from '#contract'
import { openPart, sweep } from '../background.ts'
import type { Workshop } from '../definition.ts'
import { hugeHeap } from '../heap.ts'
import { isIntact, makeDirectory } from './header-directory.ts'
import type { Compilation, Templates } from './header-directory.ts'
import { buildQuickCompiler, identifySources, quickCompiler, usePlugin } from './quick-compiler.ts'

/** It includes all others. */
const everyHeader = 'bits/stdc++.h'

/** These take GCC over 50 ms; those of C take 2 ms. Some 0.6 GB, half of it the first two and the streams. */
const commonHeaders: readonly string[] = (
  `${everyHeader} iostream sstream fstream iomanip string memory functional ` +
  'vector deque queue stack map set unordered_map algorithm cmath'
).split(' ')

export interface PrecompiledHeaders {
  /** Shown in boxes as long as the worker lives; null when they cannot see it. */
  readonly path: HostPath | null
  /** The driver in the box, with what it wants before GCC's own words (driver.cpp). */
  readonly driver: readonly string[]
  /** GCC's own words for it: of the first attempt, and of the second. */
  readonly quick: readonly string[]
  readonly careful: readonly string[]
  /**
   * The first attempt's words for a program; null where none of these headers may stand for what it begins with.
   * @param addsToStd whether templates that were made before it could see less than they would at its end.
   */
  choose(header: string | null, addsToStd: () => boolean): readonly string[] | null
  /** Resolves when what was missing is made, or cannot be. */
  readonly made: Promise<void>
}

export const noPrecompiledHeaders: PrecompiledHeaders = {
  path: null,
  driver: [],
  quick: [],
  careful: [],
  choose: () => null,
  made: Promise.resolve(),
}

/** The directory's place in boxes, which tells nothing of the host. */
const target = '/precompiled'

/** Mapped by GCC before there is a source: what most programs begin with. */
const mappedAhead: readonly string[] = [everyHeader, 'iostream']

const nameDirectory = (header: string): string => header.replaceAll('/', '_')
const careful = `${nameDirectory(everyHeader)}.careful`

/**
 * Starts to make what is missing; the driver at once.
 * @param directory may be shared with other workers and outlives them.
 * @param headers in the order in which they are made.
 * @throws when the driver cannot be compiled.
 */
export async function keepPrecompiledHeaders(
  { directory, signal, track }: Workshop,
  compilation: Compilation,
  headers: readonly string[] = commonHeaders,
): Promise<PrecompiledHeaders> {
  const identity = [compilation.identity, identifySources()].join('\0')
  const key = createHash('sha256').update(identity).digest('hex')
  const own = openPart(directory, key)
  if (own === null) return noPrecompiledHeaders
  const isPlugin = await buildQuickCompiler(own, compilation.program, signal)
  const ready = new Set<string>()
  const made = sweep(directory, key)
    .catch(() => {})
    .then(() => prepareAll({ own, compilation, headers, isPlugin, signal, ready }))
  track(made)
  const show = (names: readonly string[]): string[] =>
    names.flatMap((name) => ['-isystem', include(name)])
  const words = {
    quick: [
      ...(isPlugin ? ['-pass-exit-codes', usePlugin(target)] : []),
      ...show([...headers.map(nameDirectory), careful]),
    ],
    careful: show([careful]),
  }
  const { driver, library } = quickCompiler
  return {
    path: { source: own, target },
    driver: [
      `${target}/${driver}`,
      hugeHeap,
      `${target}/${library}`,
      mappedAhead.map((header) => `${include(nameDirectory(header))}/${header}.gch`).join(':'),
    ],
    ...words,
    choose(header, addsToStd) {
      if (header === null || !ready.has(header)) return null
      if (!isPlugin || !addsToStd()) return words.quick
      return header === everyHeader ? words.careful : null
    },
    made,
  }
}

function include(name: string): string {
  return `${target}/${name}/include`
}

interface Making {
  readonly own: string
  readonly compilation: Compilation
  readonly headers: readonly string[]
  /** Whether GCC takes our library for a plugin. */
  readonly isPlugin: boolean
  readonly signal: AbortSignal
  /** Headers that may be used, added to as they are made. */
  readonly ready: Set<string>
}

/** One after the other; what cannot be made is left out. */
async function prepareAll(making: Making): Promise<void> {
  const { headers, signal, ready } = making
  const common = await prepareCareful(making).catch(() => null)
  const templates: Templates = common === null ? {} : { lists: 'made', common }
  for (const header of headers) {
    const name = nameDirectory(header)
    const isThere = await prepare(making, name, header, templates).catch(() => false)
    if (signal.aborted) return
    if (isThere) ready.add(header)
  }
}

/** @returns the list of common templates; null where none can be made in any header. */
async function prepareCareful(making: Making): Promise<string | null> {
  const { own, headers, isPlugin, ready } = making
  if (!isPlugin || !headers.includes(everyHeader)) return null
  if (!(await prepare(making, careful, everyHeader, { lists: 'common' }))) return null
  // Where there is another one, GCC would use that, whole or not.
  if (!existsSync(`${own}/${nameDirectory(everyHeader)}`)) ready.add(everyHeader)
  const common = `${own}/${careful}/common-templates`
  return existsSync(common) ? common : null
}

/** @returns whether it is there now, and whole. */
async function prepare(
  { own, compilation, signal }: Making,
  name: string,
  header: string,
  templates: Templates,
): Promise<boolean> {
  signal.throwIfAborted()
  const path = `${own}/${name}`
  const existed = existsSync(path)
  // The second check reads a new file in full, so that its pages are charged to the worker and no program.
  if (await isIntact(path, header)) return true
  if (existed) await rm(path, { recursive: true, force: true })
  await makeDirectory(path, header, compilation, templates, signal)
  return isIntact(path, header)
}
