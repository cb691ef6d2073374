// What languages prepare beside the runs: a directory of the workers', which boxes read and nobody else lists, of things that are
// complete or absent, each with a record of what it was when it was made:
//
//   <directory>/<key>/<thing>/<file>          what is shown in boxes
//   <directory>/<key>/<thing>/record.json     its digest, its sources and theirs
import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  chmodSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Workshop } from './definition.ts'
import { plainEnvironment } from './version.ts'

/** The mode of our directories, whatever the umask: programs' users may pass but not list. */
const searchable = 0o711

const dayMs = 86_400_000

/** How a thing must be to be used; digests are SHA-256. */
interface Provenance {
  readonly precompiled: string
  readonly sources: readonly string[]
  /** Of all sources, concatenated. */
  readonly content: string
}

/** One thing to prepare. */
export interface Preparable {
  /** Of its directory in the part. */
  readonly name: string
  readonly file: string
  /** Writes the file, with what else it needs in the directory that it is given, and returns the sources. */
  readonly make: (directory: string, result: string) => Promise<readonly string[]>
}

/**
 * Starts to make what is missing, one after the other.
 * @param workshop its directory may be shared with other workers and languages, and outlives them.
 * @param identity distinguishes how these are made from all other ways.
 * @returns the part's key, and the names of those that are there.
 */
export function keepPrepared(
  { directory, signal, track }: Workshop,
  identity: string,
  things: readonly Preparable[],
): { readonly key: string; readonly ready: ReadonlySet<string> } {
  const key = createHash('sha256').update(identity).digest('hex')
  const own = `${directory}/${key}`
  mkdirSync(own, { recursive: true })
  for (const path of [directory, own]) chmodSync(path, searchable)
  const ready = new Set<string>()
  async function makeAll(): Promise<void> {
    await sweep(directory, key).catch(() => {})
    for (const thing of things) {
      if (signal.aborted) return
      if (await prepare(own, thing).catch(() => false)) ready.add(thing.name)
    }
  }
  track(makeAll())
  return { key, ready }
}

/**
 * Makes a thing, unless it is there and whole. What is there is read in full, so that its pages are charged to the worker and no
 * program.
 * @throws what `make` throws. @returns whether it is there now: another worker may have made and removed it.
 */
async function prepare(own: string, { name, file, make }: Preparable): Promise<boolean> {
  const path = `${own}/${name}`
  // One that another worker makes meanwhile is whole.
  const existed = existsSync(path)
  if (await isIntact(path, file)) return true
  if (existed) await rm(path, { recursive: true, force: true })
  const unfinished = `${own}/.${randomUUID()}`
  const result = `${unfinished}/made/${file}`
  try {
    for (let at = dirname(result); at !== own; at = dirname(at)) {
      await mkdir(at, { recursive: true })
      await chmod(at, searchable)
    }
    const sources = await make(unfinished, result)
    await chmod(result, 0o444)
    const record: Provenance = {
      precompiled: await hashFiles([result]),
      sources,
      content: await hashFiles(sources),
    }
    await writeFile(`${unfinished}/made/record.json`, JSON.stringify(record))
    // Fails when another worker was faster, whose work is checked like ours.
    await rename(`${unfinished}/made`, path).catch(() => {})
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return isIntact(path, file)
}

/** True when the file and its sources are unchanged. Reads all of them. */
async function isIntact(path: string, file: string): Promise<boolean> {
  try {
    // This was written above, in a directory of our own.
    const record: Provenance = JSON.parse(await readFile(`${path}/record.json`, 'utf8'))
    if ((await hashFiles(record.sources)) !== record.content) return false
    return (await hashFiles([`${path}/${file}`])) === record.precompiled
  } catch {
    // There is none, or it was cut short, or removed by another worker.
    return false
  }
}

/** SHA-256 of all files, concatenated, in hexadecimal. */
async function hashFiles(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const path of paths) {
    const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 20 })
    for await (const chunk of chunks) hash.update(chunk)
  }
  return hash.digest('hex')
}

/**
 * Removes unfinished work, whose name begins with a dot, and what no worker with such a key opened for thirty days. Other keys'
 * parts stay, as a box may show one.
 */
async function sweep(directory: string, key: string): Promise<void> {
  const now = new Date()
  utimesSync(`${directory}/${key}`, now, now)
  const olderThan = (path: string, age: number): boolean => {
    const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
    return modified < now.getTime() - age
  }
  for (const other of readdirSync(directory)) {
    const path = `${directory}/${other}`
    const unused = other !== key && olderThan(path, 30 * dayMs)
    for (const name of readdirSync(path)) {
      const unfinished = name.startsWith('.') && olderThan(`${path}/${name}`, dayMs)
      if (unused || unfinished) await rm(`${path}/${name}`, { recursive: true, force: true })
    }
  }
}

/**
 * Runs at a lower priority; at the lowest a busy host would hardly run it. `signal` kills all its processes.
 * @param place its directory, and variables beside the usual ones.
 * @throws unless it exits with 0.
 */
export async function runInBackground(
  command: readonly string[],
  signal: AbortSignal,
  place: { readonly cwd?: string; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const child = spawn('/usr/bin/nice', ['-n', '10', ...command], {
      cwd: place.cwd ?? '/',
      env: { ...plainEnvironment, ...place.environment },
      stdio: 'ignore',
      // A process group, as a compiler's driver or script starts the compiler.
      detached: true,
    })
    const kill = (): void => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    }
    signal.addEventListener('abort', kill)
    child.once('error', reject)
    child.once('exit', (status) => {
      signal.removeEventListener('abort', kill)
      if (status === 0) resolve()
      else reject(new Error(`${command[0]} exited with ${status}`))
    })
  })
}
