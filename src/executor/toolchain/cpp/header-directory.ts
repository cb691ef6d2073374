// Makes one precompiled header's directory, and tells whether it is what it was when it was made:
//
//   include/<header>.gch    all that GCC finds by -isystem
//   written-pages           see written-pages.cpp
//   common-templates, made-templates    one or none of them, see made-templates.cpp
//   record.json             digests of these, and the header's sources
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hashFiles, runInBackground, searchable } from '../background.ts'
import {
  commonProgram,
  learnWrittenPages,
  preload,
  tellPlugin,
  usePlugin,
} from './quick-compiler.ts'

export interface Compilation {
  readonly program: string
  /** Exactly those that programs are compiled with. */
  readonly options: readonly string[]
  /** Tells this compiler and these options from all others. */
  readonly identity: string
}

/** What becomes of the templates that a header uses: it lists which are common, has all others made, or neither. */
export type Templates =
  | { readonly lists?: undefined }
  | { readonly lists: 'common' }
  /** `common` is such a list. */
  | { readonly lists: 'made'; readonly common: string }

/** How a precompiled header must be to be used. */
interface Provenance {
  readonly sources: readonly string[]
  /** SHA-256 of all sources, concatenated. */
  readonly content: string
  /** SHA-256 of each other file, by its name. */
  readonly digests: Readonly<Record<string, string>>
}

/** True when the files and the header's sources are unchanged. Reads all of them. */
export async function isIntact(path: string, header: string): Promise<boolean> {
  if (!existsSync(`${path}/record.json`)) return false
  try {
    // This was written below, in a directory of our own.
    const record: Provenance = JSON.parse(await readFile(`${path}/record.json`, 'utf8'))
    if ((await hashFiles(record.sources)) !== record.content) return false
    const { digests } = record
    if (digests[`include/${header}.gch`] === undefined) return false
    for (const [name, digest] of Object.entries(digests))
      if ((await hashFiles([`${path}/${name}`])) !== digest) return false
    return true
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
  compilation: Compilation,
  templates: Templates,
  signal: AbortSignal,
): Promise<void> {
  const unfinished = `${dirname(path)}/.${randomUUID()}`
  try {
    const sources = await precompile(unfinished, header, compilation, templates, signal)
    const names = [`include/${header}.gch`, 'written-pages', 'common-templates', 'made-templates']
    const digests: Record<string, string> = {}
    for (const name of names.filter((one) => existsSync(`${unfinished}/${one}`)))
      digests[name] = await hashFiles([`${unfinished}/${name}`])
    const record: Provenance = { sources, content: await hashFiles(sources), digests }
    await writeFile(`${unfinished}/record.json`, JSON.stringify(record))
    // Fails when another worker was faster, whose work is checked like ours.
    await rename(unfinished, path).catch(() => {})
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/**
 * Makes all files but the record.
 * @returns what the header was made of.
 * @throws when the compiler fails.
 */
async function precompile(
  own: string,
  header: string,
  { program, options }: Compilation,
  templates: Templates,
  signal: AbortSignal,
): Promise<string[]> {
  const include = `${own}/include`
  const result = `${include}/${header}.gch`
  const [source, list] = [`${own}/source`, `${own}/sources`]
  const gcc = [program, ...options]
  const use = [...gcc, '-isystem', include, '-S', '-o', '/dev/null', '-x', 'c++']
  const tools = dirname(own)

  async function make(words: readonly string[] = [], lines = ''): Promise<void> {
    await writeFile(source, `#include <${header}>\n${lines}`)
    const parameters = ['-x', 'c++-header', source, '-MD', '-MF', list, '-o', result]
    await runInBackground([...gcc, ...words, ...parameters], signal)
  }

  async function makeWithTemplates(commonTemplates: string): Promise<void> {
    const made = `${own}/made-templates`
    const words = [tellPlugin('common', commonTemplates), tellPlugin('made', made)]
    await make([usePlugin(tools), ...words], '#pragma runledger templates\n')
    await runInBackground([...use, usePlugin(tools), tellPlugin('checks'), source], signal, {
      environment: preload(tools),
    })
  }

  await mkdir(dirname(result), { recursive: true })
  for (const made of [own, include, dirname(result)]) await chmod(made, searchable)
  if (templates.lists === 'made') {
    await makeWithTemplates(templates.common).catch(async () => {
      await rm(`${own}/made-templates`, { force: true })
      await make()
    })
  } else await make()
  await chmod(result, 0o444)
  if (templates.lists === 'common') {
    const used = tellPlugin('used', `${own}/common-templates`)
    await runInBackground([...use, usePlugin(tools), used, commonProgram], signal).catch(() => {})
  }
  await learnWrittenPages(tools, [...use, source], `${own}/written-pages`, signal)
  const sources = readRule(await readFile(list, 'utf8')).filter((name) => name !== source)
  await Promise.all([rm(source), rm(list)])
  return sources
}

/** The files in a make rule, `target: file file \`. */
function readRule(rule: string): string[] {
  const [, files = ''] = /^[^:]*:([^]*)$/.exec(rule) ?? []
  return files.split(/(?:\s|\\\n)+/).filter((name) => name !== '')
}
