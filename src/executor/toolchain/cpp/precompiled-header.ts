// Keeps standard headers precompiled for GCC: parsing them is most of a small program's compilation. A worker's first
// start makes all, beside the runs and from constant lines: no header shows what others compile. Until then, and in any
// doubt, programs read the header itself. One directory per header (prepared.ts):
//
//   <directory>/<key of compiler and options>/<header, / as _>/include/<header>.gch
import { readFile, writeFile } from 'node:fs/promises'
import type { HostPath } from '#contract'
import type { Workshop } from '../definition.ts'
import { keepPrepared, runInBackground } from '../prepared.ts'

export interface Compilation {
  readonly program: string
  /** Exactly those that programs are compiled with. */
  readonly options: readonly string[]
  /** Distinguishes this compiler and these options from all others. */
  readonly identity: string
}

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
 * @param headers in the order in which they are made.
 */
export function keepPrecompiledHeaders(
  workshop: Workshop,
  compilation: Compilation,
  headers: readonly string[] = commonHeaders,
): PrecompiledHeaders {
  const things = headers.map((header) => ({
    name: nameDirectory(header),
    // The part of the directory that GCC finds it in by -isystem holds nothing else.
    file: `include/${header}.gch`,
    make: (place: string, result: string): Promise<string[]> =>
      compile(header, compilation, place, result, workshop.signal),
  }))
  const { key, ready } = keepPrepared(workshop, compilation.identity, things)
  return {
    path: { source: `${workshop.directory}/${key}`, target },
    find(header) {
      if (header === null || !headers.includes(header)) return null
      const name = nameDirectory(header)
      return ready.has(name) ? `${target}/${name}/include` : null
    },
  }
}

/** @returns the header's own sources. @throws when the compiler fails. */
async function compile(
  header: string,
  { program, options }: Compilation,
  directory: string,
  result: string,
  signal: AbortSignal,
): Promise<string[]> {
  const [source, list] = [`${directory}/source`, `${directory}/sources`]
  await writeFile(source, `#include <${header}>\n`)
  const parameters = ['-x', 'c++-header', source, '-MD', '-MF', list, '-o', result]
  await runInBackground([program, ...options, ...parameters], signal)
  return readRule(await readFile(list, 'utf8')).filter((name) => name !== source)
}

/** The files in a make rule, `target: file file \`. */
function readRule(rule: string): string[] {
  const [, files = ''] = /^[^:]*:([^]*)$/.exec(rule) ?? []
  return files.split(/(?:\s|\\\n)+/).filter((name) => name !== '')
}
