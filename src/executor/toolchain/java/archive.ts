// Keeps archives of the classes that a compiler or an interpreter loads at its start, in the JVM's memory layout (class data
// sharing), because reading and verifying them is most of a small program's time. A worker's first start makes an archive in
// the background from the language's example. Until it is ready, and in any doubt, the JVM reads the classes themselves.
//
//   <directory>/<key of JVM, commands and jars>/archive/classes.jsa    (prepared.ts)
//
// A JVM trusts the bytes of an archive and crashes if they are damaged, so only an archive whose digest is unchanged is used.
// The JVM itself notices an archive of another JVM or of other jars, and ignores it.
import { globSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { HostPath } from '#contract'
import type { Workshop } from '../definition.ts'
import { keepPrepared, runInBackground } from '../prepared.ts'
import { identifyFile } from '../version.ts'

/** The command and inputs that make an archive. */
export interface Training {
  /** Returns the command, whose JVM gets these options to write an archive. */
  readonly command: (options: readonly string[]) => {
    readonly argv: readonly string[]
    readonly environment: Readonly<Record<string, string>>
  }
  readonly source: { readonly name: string; readonly content: string }
  /** Identifies the JVM and the commands. */
  readonly identity: string
  /** Files and directories, `*` allowed, whose jars decide the archive's content. */
  readonly paths: readonly string[]
}

export interface ClassArchive {
  /** The directory that boxes show as long as the worker lives. */
  readonly path: HostPath
  /** Returns the JVM's options that use the archive; none while it is not ready. */
  options(): readonly string[]
}

/** Keeps the JVM's messages about an archive out of the program's stderr. */
const silent = ['-Xlog:cds=off:stderr', '-Xlog:cds+dynamic=off:stderr']

/** The directory's path in boxes, which reveals nothing of the host. */
const target = '/class-archive'

const name = 'archive'
const file = 'classes.jsa'

/** Archives are made one after the other, because each takes the memory of a compiler. */
let lastMade: Promise<unknown> = Promise.resolve()

/** Starts to make the archive if it is missing. */
export function keepClassArchive(workshop: Workshop, training: Training): ClassArchive {
  // The identity contains the jars, so that a replaced jar gets a new archive.
  const jars = globSync(training.paths.map((path) => `${path}/**/*.jar`)).toSorted()
  const identity = [training.identity, ...jars.map(identifyFile)].join('\n')
  const make = (directory: string, result: string): Promise<[]> => {
    const made = lastMade.then(() => train(training, directory, result, workshop.signal))
    lastMade = made.catch(() => {})
    return made
  }
  const { key, ready } = keepPrepared(workshop, identity, [{ name, file, make }])
  const path = `${target}/${key}/${name}/${file}`
  return {
    path: { source: workshop.directory, target },
    options: () =>
      ready.has(name) ? [`-XX:SharedArchiveFile=${path}`, '-Xshare:auto', ...silent] : [],
  }
}

/** Runs the training command. @returns no sources. @throws when the command fails. */
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
