// Keeps the classes that a compiler or an interpreter loads first as the JVM lays them out in memory: reading and checking them
// anew is most of a small program's time. A worker's first start makes an archive, beside the runs and from the language's own
// example. Until then, and in any doubt, the JVM reads the classes themselves.
//
//   <directory>/<key of JVM, commands and jars>/archive/classes.jsa    (prepared.ts)
//
// A JVM trusts an archive's bytes, and dies of wrong ones: so it uses only what is as it was made. That it is of another JVM, or
// of other jars, the JVM sees itself, and does without.
import { globSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { HostPath } from '#contract'
import type { Workshop } from '../definition.ts'
import { keepPrepared, runInBackground } from '../prepared.ts'
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
let lastTurn: Promise<unknown> = Promise.resolve()

/** Starts to make it if it is missing. */
export function keepClassArchive(workshop: Workshop, training: Training): ClassArchive {
  // A replaced jar makes another archive.
  const jars = globSync(training.paths.map((path) => `${path}/**/*.jar`)).toSorted()
  const identity = [training.identity, ...jars.map(identifyFile)].join('\n')
  const make = (place: string, result: string): Promise<[]> => {
    const turn = lastTurn.then(() => train(training, place, result, workshop.signal))
    lastTurn = turn.catch(() => {})
    return turn
  }
  const { key, ready } = keepPrepared(workshop, identity, [{ name, file, make }])
  const path = `${target}/${key}/${name}/${file}`
  return {
    path: { source: workshop.directory, target },
    options: () =>
      ready.has(name) ? [`-XX:SharedArchiveFile=${path}`, '-Xshare:auto', ...silent] : [],
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
