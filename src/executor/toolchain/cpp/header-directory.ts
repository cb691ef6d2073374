// Makes one precompiled header's directory, and checks whether it is what it was when it was made:
//
//   include/<header>.gch    all that GCC finds by -isystem
//   record.json             its digest, its sources and theirs
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hashFiles, runInBackground, searchable } from '../background.ts'

export interface Compilation {
  readonly program: string
  /** Exactly those that programs are compiled with. */
  readonly options: readonly string[]
  /** Distinguishes this compiler and these options from all others. */
  readonly identity: string
}

/** How a precompiled header must be to be used; digests are SHA-256. */
interface Provenance {
  readonly precompiled: string
  readonly sources: readonly string[]
  /** Of all sources, concatenated. */
  readonly content: string
}

/** True when the file and the header's sources are unchanged. Reads all of them. */
export async function isIntact(path: string, header: string): Promise<boolean> {
  if (!existsSync(`${path}/record.json`)) return false
  try {
    // This was written below, in a directory of our own.
    const record: Provenance = JSON.parse(await readFile(`${path}/record.json`, 'utf8'))
    if ((await hashFiles(record.sources)) !== record.content) return false
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
export async function makeDirectory(
  path: string,
  header: string,
  { program, options }: Compilation,
  signal: AbortSignal,
): Promise<void> {
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
    const record: Provenance = {
      precompiled: await hashFiles([result]),
      sources,
      content: await hashFiles(sources),
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
