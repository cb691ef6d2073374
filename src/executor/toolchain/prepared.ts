// Keeps the files that languages prepare in the background. Boxes read the directory; other users cannot list it. Each thing in
// it is complete or absent, and has a record of its content and its sources:
//
//   <directory>/<key>/<thing>/<file>          the file that boxes use
//   <directory>/<key>/<thing>/record.json     its sources, and the digest of them and of the file
import { spawn } from 'node:child_process'
import { createHash, hash, randomUUID } from 'node:crypto'
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

/** The mode of the directories, independent of the umask: the users of programs may pass but not list. */
const searchable = 0o711

const dayMs = 86_400_000

/** The record of a thing; it is used only if it still matches. */
interface Provenance {
  readonly sources: readonly string[]
  /** SHA-256 of the sources and the file, concatenated. */
  readonly content: string
}

/** One thing to prepare. */
export interface Preparable {
  /** The name of its directory below the key's. */
  readonly name: string
  readonly file: string
  /** Writes the file `result`, with temporary files in `directory`, and returns the sources. */
  readonly make: (directory: string, result: string) => Promise<readonly string[]>
}

/**
 * Starts to make the missing things, one after the other.
 * @param workshop its directory may be shared with other workers and languages, and outlives them.
 * @param identity identifies how the things are made.
 * @returns the key, a hash of the identity, and the names of the things that are ready.
 */
export function keepPrepared(
  { directory, signal, track }: Workshop,
  identity: string,
  things: readonly Preparable[],
): { readonly key: string; readonly ready: ReadonlySet<string> } {
  const key = hash('sha256', identity)
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
 * Makes a thing, unless it exists and is intact. Reads all of its file, so that the pages are charged to the worker and not to
 * a program.
 * @throws what `make` throws. @returns whether it exists now: another worker may have made and removed it.
 */
async function prepare(own: string, { name, file, make }: Preparable): Promise<boolean> {
  const path = `${own}/${name}`
  // A thing that another worker makes after this point is intact, and must not be removed.
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
    const record: Provenance = { sources, content: await hashFiles([...sources, result]) }
    await writeFile(`${unfinished}/made/record.json`, JSON.stringify(record))
    // The rename fails when another worker was faster. The check below applies to that worker's file, too.
    await rename(`${unfinished}/made`, path).catch(() => {})
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return isIntact(path, file)
}

/** True when the file and its sources are unchanged. Reads all of them. */
async function isIntact(path: string, file: string): Promise<boolean> {
  try {
    // The record was written by `prepare`, in a directory that only workers can write.
    const record: Provenance = JSON.parse(await readFile(`${path}/record.json`, 'utf8'))
    return (await hashFiles([...record.sources, `${path}/${file}`])) === record.content
  } catch {
    // The record or a file is missing or cut short, or another worker has removed it.
    return false
  }
}

/** Returns the SHA-256 of all files, concatenated, in hexadecimal. */
async function hashFiles(paths: readonly string[]): Promise<string> {
  const whole = createHash('sha256')
  for (const path of paths) {
    const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 20 })
    for await (const chunk of chunks) whole.update(chunk)
  }
  return whole.digest('hex')
}

/**
 * Removes unfinished work older than a day, whose name begins with a dot, and the things of keys that no worker has opened for
 * thirty days. The directories of those keys stay, because a box may show one.
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
 * Runs a command at a lower priority, but not the lowest, at which a busy host would hardly run it. `signal` kills all its
 * processes.
 * @param context its working directory, and variables beside the usual ones.
 * @throws unless the command exits with 0.
 */
export async function runInBackground(
  command: readonly string[],
  signal: AbortSignal,
  context: { readonly cwd?: string; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const child = spawn('/usr/bin/nice', ['-n', '10', ...command], {
      cwd: context.cwd ?? '/',
      env: { ...plainEnvironment, ...context.environment },
      stdio: 'ignore',
      // It gets its own process group, because a driver or script starts the compiler as a further process.
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
