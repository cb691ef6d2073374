// What languages prepare beside the runs has in common: a directory of the workers', which boxes read and nobody else lists, and
// programs that run there at a lower priority.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, createReadStream, mkdirSync, readdirSync, statSync, utimesSync } from 'node:fs'
import { rm } from 'node:fs/promises'

/** The mode of our directories, whatever the umask: programs' users may pass but not list. */
export const searchable = 0o711

const dayMs = 86_400_000

/** Makes `directory` and its part for this key. @returns the part. */
export function openPart(directory: string, key: string): string {
  const own = `${directory}/${key}`
  mkdirSync(own, { recursive: true })
  for (const path of [directory, own]) chmodSync(path, searchable)
  return own
}

/**
 * Removes unfinished work, whose name begins with a dot, and what no worker with such a key opened for thirty days. Other keys'
 * parts stay, as a box may show one.
 */
export async function sweep(directory: string, key: string): Promise<void> {
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

/** SHA-256 of all files, concatenated, in hexadecimal. */
export async function hashFiles(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const path of paths) {
    const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 20 })
    for await (const chunk of chunks) hash.update(chunk)
  }
  return hash.digest('hex')
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
      // Without the worker's variables: CPATH, for one, changes what GCC includes.
      env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', ...place.environment },
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
