// Keeps standard headers precompiled for GCC: parsing them is most of a small program's compilation. A worker's first
// start makes all, beside the runs and from constant lines: no header tells what others compile. Until then, and in any
// doubt, programs read the header itself. One directory per header, complete or absent:
//
//   <directory>/<key of compiler and options>/<header, / as _>/include/<header>.gch   all that GCC finds by -isystem
//                                                              record.json            its digest and its sources
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

/** These take GCC over 50 ms; those of C take 2 ms. Some 0.5 GB, half of it the first two and the streams. */
const commonHeaders: readonly string[] = (
  'bits/stdc++.h iostream sstream fstream iomanip string memory functional ' +
  'vector deque queue stack map set unordered_map algorithm cmath'
).split(' ')

export interface PrecompiledHeaders {
  /** Shown in boxes as long as the worker lives; null when they cannot see it. */
  readonly path: HostPath | null
  /** The directory in the box with this precompiled header alone; null while there is none. */
  find(header: string): string | null
}

export const noPrecompiledHeaders: PrecompiledHeaders = { path: null, find: () => null }

export interface Compilation {
  readonly program: string
  /** Exactly those that programs are compiled with. */
  readonly options: readonly string[]
  /** Tells this compiler and these options from all others. */
  readonly identity: string
}

/** How a precompiled header must be to be used. */
interface Record {
  readonly precompiled: string
  readonly sources: readonly string[]
  /** SHA-256 of all sources, concatenated. */
  readonly content: string
}

/** The mode of our directories, whatever the umask: programs' users may pass but not list. */
const searchable = 0o711

/** The directory's place in boxes, which tells nothing of the host. */
const target = '/precompiled'

/**
 * Starts to make what is missing.
 * @param directory may be shared with other workers and outlives them.
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
    // The second check reads a new file in full, so that its pages are charged to the worker and no program.
    if (!(await isIntact(path, header))) {
      if (existed) await rm(path, { recursive: true, force: true })
      await precompile(path, header, compilation, signal)
      if (!(await isIntact(path, header))) return
    }
    ready.add(header)
  }

  async function prepareAll(): Promise<void> {
    await sweep(directory, key).catch(() => {})
    for (const header of headers) {
      if (!signal.aborted) await prepare(header).catch(() => {})
    }
  }
  track(prepareAll())

  return {
    path: { source: own, target },
    find: (header) => (ready.has(header) ? `${target}/${place(header)}/include` : null),
  }
}

/** Boxes are made with the rights of programs' users. An unprivileged worker is that user itself. */
function isReachable(path: string): boolean {
  if (process.getuid?.() !== 0) return true
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false
    if (at === '/') return true
  }
}

const dayMs = 86_400_000

/**
 * Removes unfinished work, and what no worker with such a compiler opened for thirty days. Other compilers' directories
 * stay, as a box may show one.
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

/** True when the file and its sources are unchanged. Reads all of them. */
async function isIntact(path: string, header: string): Promise<boolean> {
  if (!existsSync(`${path}/record.json`)) return false
  try {
    // This was written below, in a directory of our own.
    const record: Record = JSON.parse(await readFile(`${path}/record.json`, 'utf8'))
    const content = await hashFiles(record.sources)
    if (content !== record.content) return false
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

async function hashFiles(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const path of paths) {
    const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 20 })
    for await (const chunk of chunks) hash.update(chunk)
  }
  return hash.digest('hex')
}

/**
 * Runs at a lower priority; at the lowest a busy host would hardly run it. `signal` kills all its processes.
 * @throws unless it exits with 0.
 */
async function runInBackground(command: readonly string[], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const child = spawn('/usr/bin/nice', ['-n', '10', ...command], {
      cwd: '/',
      // Without the worker's variables: CPATH, for one, changes what GCC includes.
      env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
      stdio: 'ignore',
      // A process group, as GCC is a driver that starts the compiler.
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
