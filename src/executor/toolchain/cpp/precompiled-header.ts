// Keeps standard headers precompiled for GCC: parsing them is most of a small program's compilation. A worker's first
// start makes all, beside the runs and from constant lines: no header tells what others compile. Until then, and in any
// doubt, programs read the header itself. One directory per header, complete or absent:
//
//   <directory>/<key of compiler and options>/<header, / as _>/include/<header>.gch   all that GCC finds by -isystem
//                                                              written-pages[.so]     see written-pages.ts
//                                                              record.json            its digest and its sources
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { HostPath } from '#contract'
import { hashFiles, openPart, runInBackground, searchable, sweep } from '../background.ts'
import type { Workshop } from '../definition.ts'
import { learnWrittenPages } from './written-pages.ts'

/** These take GCC over 50 ms; those of C take 2 ms. Some 0.5 GB, half of it the first two and the streams. */
const commonHeaders: readonly string[] = (
  'bits/stdc++.h iostream sstream fstream iomanip string memory functional ' +
  'vector deque queue stack map set unordered_map algorithm cmath'
).split(' ')

export interface PrecompiledHeaders {
  /** Shown in boxes as long as the worker lives; null when they cannot see it. */
  readonly path: HostPath | null
  /** The directory in the box with this precompiled header alone; null while there is none. */
  find(header: string): string | null
}

export const noPrecompiledHeaders: PrecompiledHeaders = { path: null, find: () => null }

export interface Compilation {
  readonly program: string
  /** Exactly those that programs are compiled with. */
  readonly options: readonly string[]
  /** Tells this compiler and these options from all others. */
  readonly identity: string
}

/** How a precompiled header must be to be used. */
interface Record {
  readonly precompiled: string
  readonly sources: readonly string[]
  /** SHA-256 of all sources, concatenated. */
  readonly content: string
  /** What makes it quicker to use, and the digest of that; an earlier release knew of none. */
  readonly pages?: { readonly files: readonly string[]; readonly content: string }
}

/** The directory's place in boxes, which tells nothing of the host. */
const target = '/precompiled'

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
  if (own === null) return noPrecompiledHeaders
  const place = (header: string): string => header.replaceAll('/', '_')
  const ready = new Set<string>()
  async function prepare(header: string): Promise<void> {
    const path = `${own}/${place(header)}`
    const existed = existsSync(path)
    // The second check reads a new file in full, so that its pages are charged to the worker and no program.
    if (!(await isIntact(path, header))) {
      if (existed) await rm(path, { recursive: true, force: true })
      await precompile(path, header, compilation, signal)
      if (!(await isIntact(path, header))) return
    }
    ready.add(header)
  }

  async function prepareAll(): Promise<void> {
    await sweep(directory, key).catch(() => {})
    for (const header of headers) {
      if (!signal.aborted) await prepare(header).catch(() => {})
    }
  }
  track(prepareAll())

  return {
    path: { source: own, target },
    find: (header) => (ready.has(header) ? `${target}/${place(header)}/include` : null),
  }
}

/** True when the file and its sources are unchanged. Reads all of them. */
async function isIntact(path: string, header: string): Promise<boolean> {
  if (!existsSync(`${path}/record.json`)) return false
  try {
    // This was written below, in a directory of our own.
    const record: Record = JSON.parse(await readFile(`${path}/record.json`, 'utf8'))
    const content = await hashFiles(record.sources)
    if (content !== record.content) return false
    const files = record.pages?.files.map((name) => `${path}/${name}`)
    if (files === undefined || (await hashFiles(files)) !== record.pages?.content) return false
    return (await hashFiles([`${path}/include/${header}.gch`])) === record.precompiled
  } catch {
    // The record was cut short, or removed by another worker.
    return false
  }
}

/**
 * Makes a header's whole directory, unless another worker is faster.
 * @throws when the compiler fails.
 */
async function precompile(
  path: string,
  header: string,
  compilation: Compilation,
  signal: AbortSignal,
): Promise<void> {
  const { program, options } = compilation
  const unfinished = `${dirname(path)}/.${randomUUID()}`
  const include = `${unfinished}/include`
  const result = `${include}/${header}.gch`
  const [source, list] = [`${unfinished}/source`, `${unfinished}/sources`]
  try {
    await mkdir(dirname(result), { recursive: true })
    for (const made of [unfinished, include, dirname(result)]) await chmod(made, searchable)
    await writeFile(source, `#include <${header}>\n`)
    const parameters = ['-x', 'c++-header', source, '-MD', '-MF', list, '-o', result]
    await runInBackground([program, ...options, ...parameters], signal)
    await chmod(result, 0o444)
    const sources = readRule(await readFile(list, 'utf8')).filter((name) => name !== source)
    const content = await hashFiles(sources)
    const files = await learnWrittenPages(unfinished, { source, include }, compilation, signal)
    const record: Record = {
      precompiled: await hashFiles([result]),
      sources,
      content,
      pages: { files, content: await hashFiles(files.map((name) => `${unfinished}/${name}`)) },
    }
    await writeFile(`${unfinished}/record.json`, JSON.stringify(record))
    await Promise.all([rm(source), rm(list)])
    // Fails when another worker was faster, whose work is checked like ours.
    await rename(unfinished, path).catch(() => {})
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/** The files in a make rule, `target: file file \`. */
function readRule(rule: string): string[] {
  const [, files = ''] = /^[^:]*:([^]*)$/.exec(rule) ?? []
  return files.split(/(?:\s|\\\n)+/).filter((name) => name !== '')
}
