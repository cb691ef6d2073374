// Keeps the classes that a compiler or an interpreter loads first as the JVM lays them out in memory: reading and checking them
// anew is most of a small program's time. A worker's first start makes an archive, beside the runs and from the language's own
// example. Until then, and in any doubt, the JVM reads the classes themselves.
//
//   <directory>/<key of JVM, commands and jars>/<digest>.jsa    complete or absent
//
// A JVM trusts an archive's bytes, and dies of wrong ones: so it is shown only what has the digest in its name. That it is of
// another JVM, or of other jars, the JVM sees itself, and does without.
import { createHash, randomUUID } from 'node:crypto'
import { globSync } from 'node:fs'
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import type { HostPath } from '#contract'
import { hashFiles, openPart, runInBackground, searchable, sweep } from '../background.ts'
import type { Workshop } from '../definition.ts'
import { identifyFile } from '../version.ts'

/** What is run to make an archive. */
export interface Training {
  /** With these options the JVM of it writes one. */
  readonly command: (options: readonly string[]) => {
    readonly argv: readonly string[]
    readonly environment: Readonly<Record<string, string>>
  }
  readonly source: { readonly name: string; readonly content: string }
  /** Distinguishes this JVM and these commands from all others. */
  readonly identity: string
  /** Files and directories, `*` allowed, whose jars decide what is in it. */
  readonly paths: readonly string[]
}

export interface ClassArchive {
  /** Shown in boxes as long as the worker lives. */
  readonly path: HostPath | null
  /** The JVM's options; none while there is no archive. */
  options(): readonly string[]
}

export const noClassArchive: ClassArchive = { path: null, options: () => [] }

/** Whatever the JVM finds wrong with an archive is no matter of the program's stderr. */
const silent = ['-Xlog:cds=off:stderr', '-Xlog:cds+dynamic=off:stderr']

/** The directory's place in boxes, which shows nothing of the host. */
const target = '/class-archive'

/** One after another: each takes a compiler's memory. */
let lastTurn = Promise.resolve()

/**
 * Starts to make what is missing.
 * @param workshop its directory may be shared with other workers and languages, and outlives them.
 */
export function keepClassArchive(
  { directory, signal, track }: Workshop,
  training: Training,
): ClassArchive {
  // A replaced jar makes another archive.
  const jars = globSync(training.paths.map((path) => `${path}/**/*.jar`)).toSorted()
  const identity = [training.identity, ...jars.map(identifyFile)].join('\n')
  const key = createHash('sha256').update(identity).digest('hex')
  const own = openPart(directory, key)
  let ready: string | null = null

  async function prepare(path: string): Promise<void> {
    await sweep(directory, key).catch(() => {})
    // What was just made is read in full, too, so that its pages are charged to the worker and no program.
    ready = (await keepIntact(path)) ?? (await make(path, training, signal))
  }
  const turn = lastTurn.then(() => (signal.aborted ? undefined : prepare(own))).catch(() => {})
  lastTurn = turn
  track(turn)

  return {
    path: { source: directory, target },
    options: () =>
      ready === null
        ? []
        : [`-XX:SharedArchiveFile=${target}/${key}/${ready}`, '-Xshare:auto', ...silent],
  }
}

/**
 * The name of one that is what it was when it was made; null without. Reads all, and removes all others: a JVM that has one of them
 * open keeps it, one that finds it gone does without.
 */
async function keepIntact(directory: string): Promise<string | null> {
  let kept: string | null = null
  for (const name of await readdir(directory)) {
    if (name.startsWith('.')) continue
    const path = `${directory}/${name}`
    if (kept === null && name === nameArchive(await hashFiles([path]))) kept = name
    else await rm(path, { force: true })
  }
  return kept
}

function nameArchive(digest: string): string {
  return `${digest}.jsa`
}

/**
 * Makes an archive, and returns its name.
 * @throws when the JVM fails, or writes none.
 */
async function make(
  directory: string,
  { command, source }: Training,
  signal: AbortSignal,
): Promise<string> {
  const unfinished = `${directory}/.${randomUUID()}`
  const result = `${unfinished}/archive`
  const place = `${unfinished}/box`
  try {
    for (const made of [unfinished, place]) await mkdir(made, { mode: searchable })
    await writeFile(`${place}/${source.name}`, source.content)
    const { argv, environment } = command([`-XX:ArchiveClassesAtExit=${result}`])
    await runInBackground(argv, signal, { cwd: place, environment })
    await chmod(result, 0o444)
    const name = nameArchive(await hashFiles([result]))
    await rename(result, `${directory}/${name}`)
    return name
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}
