// Keeps the classes that a compiler or an interpreter loads first as the JVM lays them out in memory: reading and checking them
// anew is most of a small program's time. A worker's first start makes an archive, beside the runs and from the language's own
// example. Until then, and in any doubt, the JVM reads the classes themselves.
//
//   <directory>/<key of JVM and commands>/<key of jars>-<digest>.jsa    complete or absent
//
// A JVM trusts an archive's bytes, and dies of wrong ones: so it is shown only what has the digest in its name. That it is of
// another JVM, or of other jars, the JVM sees itself, and does without.
import { createHash, randomUUID } from 'node:crypto'
import { chmod, glob, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import type { HostPath } from '#contract'
import { hashFiles, openPart, runInBackground, searchable, sweep } from '../background.ts'
import type { Workshop } from '../definition.ts'

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
  const key = createHash('sha256').update(training.identity).digest('hex')
  const own = openPart(directory, key)
  let ready: string | null = null

  async function prepare(path: string): Promise<void> {
    await sweep(directory, key).catch(() => {})
    const jars = await identifyJars(training.paths)
    // What was just made is read in full, too, so that its pages are charged to the worker and no program.
    const found = (await findIntact(path, jars)) ?? (await make(path, jars, training, signal))
    await removeOthers(path, found)
    ready = found
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

/** What the jars are now, whatever their names: a replaced one makes another archive. */
async function identifyJars(paths: readonly string[]): Promise<string> {
  const found: string[] = []
  const directories = paths.map((path) => `${path}/**/*.jar`)
  for await (const path of glob(directories)) {
    const { ino, size, mtimeMs } = await stat(path).catch(() => ({ ino: 0, size: 0, mtimeMs: 0 }))
    found.push(`${path} ${ino} ${size} ${mtimeMs}`)
  }
  return createHash('sha256').update(found.toSorted().join('\n')).digest('hex')
}

/** The name of an archive for these jars that is what it was when it was made; null without one. Reads all of it. */
async function findIntact(directory: string, jars: string): Promise<string | null> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(`${jars}-`)) continue
    if (name === nameArchive(jars, await hashFiles([`${directory}/${name}`]))) return name
    await rm(`${directory}/${name}`, { force: true })
  }
  return null
}

function nameArchive(jars: string, digest: string): string {
  return `${jars}-${digest}.jsa`
}

/**
 * Makes an archive, and returns its name.
 * @throws when the JVM fails, or writes none.
 */
async function make(
  directory: string,
  jars: string,
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
    const name = nameArchive(jars, await hashFiles([result]))
    await rename(result, `${directory}/${name}`)
    return name
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/** A JVM that has one of them open keeps it; one that finds it gone does without. */
async function removeOthers(directory: string, kept: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name !== kept && !name.startsWith('.')) await rm(`${directory}/${name}`, { force: true })
  }
}
