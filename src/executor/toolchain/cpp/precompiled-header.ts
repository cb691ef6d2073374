// Keeps standard headers precompiled for GCC, because parsing them is most of a small program's compilation. A worker's first
// start makes all of them in the background, from constant lines, so that no header shows what others compile. Until a header
// is ready, and in any doubt, programs read the header itself. Each header has a directory (prepared.ts):
//
//   <directory>/<key of compiler and options>/<header, / as _>/include/<header>.gch
import { readFile, writeFile } from 'node:fs/promises'
import type { HostPath } from '#contract'
import type { Workshop } from '../definition.ts'
import { keepPrepared, runInBackground } from '../prepared.ts'

export interface Compilation {
  readonly program: string
  /** Exactly the options that programs are compiled with. */
  readonly options: readonly string[]
  /** Identifies the compiler and the options. */
  readonly identity: string
}

/**
 * The headers to precompile. GCC takes over 50 ms for each of them, but 2 ms for those of C. Together they take some 0.5 GB on
 * disk, half of it for the first two and the streams.
 */
const commonHeaders: readonly string[] = (
  'bits/stdc++.h iostream sstream fstream iomanip string memory functional ' +
  'vector deque queue stack map set unordered_map algorithm cmath'
).split(' ')

export interface PrecompiledHeaders {
  /** The directory that boxes show as long as the worker lives. */
  readonly path: HostPath
  /** Returns the headers that are ready, each with the directory in boxes that holds only this precompiled header. */
  listReady(): ReadonlyMap<string, string>
}

/** The directory's path in boxes, which reveals nothing of the host. */
const target = '/precompiled'

const nameDirectory = (header: string): string => header.replaceAll('/', '_')

/**
 * Starts to make the missing precompiled headers.
 * @param headers in the order in which they are made.
 */
export function keepPrecompiledHeaders(
  workshop: Workshop,
  compilation: Compilation,
  headers: readonly string[] = commonHeaders,
): PrecompiledHeaders {
  const things = headers.map((header) => ({
    name: nameDirectory(header),
    // The directory `include`, which GCC gets with -isystem, holds nothing else.
    file: `include/${header}.gch`,
    make: (directory: string, result: string): Promise<string[]> =>
      compile(header, compilation, directory, result, workshop.signal),
  }))
  const { key, ready } = keepPrepared(workshop, compilation.identity, things)
  return {
    path: { source: `${workshop.directory}/${key}`, target },
    listReady: () => {
      const usable = headers.filter((header) => ready.has(nameDirectory(header)))
      return new Map(usable.map((header) => [header, `${target}/${nameDirectory(header)}/include`]))
    },
  }
}

/** Precompiles a header. @returns the source files that it includes. @throws when the compiler fails. */
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

/** Returns the files in a make rule, `target: file file \`. */
function readRule(rule: string): string[] {
  const [, files = ''] = /^[^:]*:([^]*)$/.exec(rule) ?? []
  return files.split(/(?:\s|\\\n)+/).filter((name) => name !== '')
}
