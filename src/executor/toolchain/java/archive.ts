// Keeps the classes that a compiler or an interpreter loads first as the JVM lays them out in memory: reading and checking them
// anew is most of a small program's time. A worker's first start makes an archive, beside the runs and from the language's own
// example. Until then, and in any doubt, the JVM reads the classes themselves.
//
//   <directory>/<key of JVM, commands and jars>/archive/classes.jsa    (prepared.ts)
//
// A JVM trusts an archive's bytes, and dies of wrong ones: so it uses only what is as it was made. That it is of another JVM, or
// of other jars, the JVM sees itself, and does without.
import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { HostPath } from '#contract'
import type { Workshop } from '../definition.ts'
import { openPart, prepare, runInBackground, sweep } from '../prepared.ts'
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

const name = 'archive'
const file = 'classes.jsa'

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
  let isReady = false

  async function make(): Promise<void> {
    if (signal.aborted) return
    await sweep(directory, key).catch(() => {})
    isReady = await prepare(`${own}/${name}`, file, (place, result) =>
      train(training, place, result, signal),
    )
  }
  const turn = lastTurn.then(make).catch(() => {})
  lastTurn = turn
  track(turn)

  return {
    path: { source: directory, target },
    options: () =>
      isReady
        ? [`-XX:SharedArchiveFile=${target}/${key}/${name}/${file}`, '-Xshare:auto', ...silent]
        : [],
  }
}

/** @returns its sources: none. @throws when the JVM fails, or writes none. */
async function train(
  { command, source }: Training,
  directory: string,
  result: string,
  signal: AbortSignal,
): Promise<[]> {
  await writeFile(`${directory}/${source.name}`, source.content)
  const { argv, environment } = command([`-XX:ArchiveClassesAtExit=${result}`])
  await runInBackground(argv, signal, { cwd: directory, environment })
  return []
}
