// Keeps precompiled standard headers for GCC: parsing them is most of what compiling a small program costs.
// All of them are precompiled when a worker first starts, beside the runs, one after the other and from constant lines of
// ours, whatever programs ask for: nobody learns from a header what others have compiled. Until then, and whenever
// anything is in doubt, programs read the header itself. One directory a header, complete or absent:
//
//   <directory>/<key of compiler and options>/<header, / as _>/include/<header>.gch   all that GCC finds by -isystem
//                                                              record.json            what it must be, and was made of
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
import type { Workshop } from '../definition.ts'
import type { HostPath } from '#contract'

/**
 * Headers that programs begin with and that take GCC over 50 ms to read; those of C take it 2 ms. All of them are some
 * 0.5 GB, half of it the first two and what holds streams.
 */
const commonHeaders: readonly string[] = (
  'bits/stdc++.h iostream sstream fstream iomanip string memory functional ' +
  'vector deque queue stack map set unordered_map algorithm cmath'
).split(' ')

export interface PrecompiledHeaders {
  /** What boxes show, as long as the worker is; null when they cannot. */
  readonly path: HostPath | null
  /** The directory in the box in which GCC finds this header precompiled, and nothing else. Null if there is none (yet). */
  find(header: string): string | null
}

/** Programs read the headers themselves. */
export const noPrecompiledHeaders: PrecompiledHeaders = { path: null, find: () => null }

/** What a precompiled header depends on. */
export interface Compilation {
  /** The compiler. */
  readonly program: string
  /** Exactly the options that programs are compiled with. */
  readonly options: readonly string[]
  /** Tells this compiler and these options from all others. */
  readonly identity: string
}

/** How a precompiled header must be if it is to be used. */
interface Record {
  /** SHA-256 of the precompiled header. */
  readonly precompiled: string
  /** The files that it was made of. */
  readonly sources: readonly string[]
  /** SHA-256 of them all, one after the other. */
  readonly content: string
}

/** Mode of our directories, whatever the umask: programs' users get through and cannot list. */
const searchable = 0o711

/** Where boxes show the directory: a name that says nothing of the host's. */
const target = '/precompiled'

/**
 * Opens the directory, which may be shared with other workers and outlives them all, and begins to make what is missing.
 * @param headers in the order in which they are made.
 */
export function keepPrecompiledHeaders(
  { directory, signal, track }: Workshop,
  compilation: Compilation,
  headers: readonly string[] = commonHeaders,
): PrecompiledHeaders {
  const key = createHash('sha256').update(compilation.identity).digest('hex')
  const own = `${directory}/${key}`
  mkdirSync(own, { recursive: true })
  for (const path of [directory, own]) chmodSync(path, searchable)
  if (!isReachable(own)) return noPrecompiledHeaders
  const place = (header: string): string => header.replaceAll('/', '_')
  const ready = new Set<string>()
  async function prepare(header: string): Promise<void> {
    const path = `${own}/${place(header)}`
    const existed = existsSync(path)
    // The second look reads a new file once in full: its pages are then the worker's and no program's.
    if (!(await isIntact(path, header))) {
      if (existed) await rm(path, { recursive: true, force: true })
      await precompile(path, header, compilation, signal)
      if (!(await isIntact(path, header))) return
    }
    ready.add(header)
  }

  async function prepareAll(): Promise<void> {
    // What is left over takes room, no more.
    await sweep(directory, key).catch(() => {})
    for (const header of headers) {
      // One that cannot be made is no loss: its programs are compiled as ever.
      if (!signal.aborted) await prepare(header).catch(() => {})
    }
  }
  track(prepareAll())

  return {
    path: { source: own, target },
    find: (header) => (ready.has(header) ? `${target}/${place(header)}/include` : null),
  }
}

/** Programs' users must get to it: boxes are made with their rights. An unprivileged worker is their user itself. */
function isReachable(path: string): boolean {
  if (process.getuid?.() !== 0) return true
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false
    if (at === '/') return true
  }
}

const dayMs = 86_400_000

/**
 * Removes what workers left unfinished, and what no worker with such a compiler has opened for thirty days. The
 * directories of other compilers stay, though empty: a box that shows one must find it.
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

/** True when the file is the one that was made, and made of headers as they are now. Reads all of both. */
async function isIntact(path: string, header: string): Promise<boolean> {
  if (!existsSync(`${path}/record.json`)) return false
  try {
    // Written below, in a directory that is ours alone.
    const record: Record = JSON.parse(await readFile(`${path}/record.json`, 'utf8'))
    const content = await hashFiles(record.sources)
    if (content !== record.content) return false
    return (await hashFiles([`${path}/include/${header}.gch`])) === record.precompiled
  } catch {
    // Cut short, or removed by a worker that shares the directory.
    return false
  }
}

/** Makes the directory of a header, whole, unless another worker is faster. @throws when the compiler fails. */
async function precompile(
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
    const content = await hashFiles(sources)
    const record: Record = { precompiled: await hashFiles([result]), sources, content }
    await writeFile(`${unfinished}/record.json`, JSON.stringify(record))
    await Promise.all([rm(source), rm(list)])
    // It fails when another worker was faster; its work is as good, and looked at like ours.
    await rename(unfinished, path).catch(() => {})
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/** The files in a rule for make: `target: file file \` and so on. */
function readRule(rule: string): string[] {
  const [, files = ''] = /^[^:]*:([^]*)$/.exec(rule) ?? []
  return files.split(/(?:\s|\\\n)+/).filter((name) => name !== '')
}

async function hashFiles(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const path of paths) {
    const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 20 })
    for await (const chunk of chunks) hash.update(chunk)
  }
  return hash.digest('hex')
}

/**
 * Runs a command at a lower priority; not at the lowest, at which a busy host hardly lets it run. The end of `signal`
 * kills all of its processes.
 * @throws unless it exits with 0.
 */
async function runInBackground(command: readonly string[], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const child = spawn('/usr/bin/nice', ['-n', '10', ...command], {
      cwd: '/',
      // Without the worker's variables: some of them, such as CPATH, change what GCC includes.
      env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
      stdio: 'ignore',
      // A process group of its own: GCC is a driver and the compiler that it starts.
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
