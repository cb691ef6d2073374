// Compiles the keeper (keeper.c) for this host: the program, and the library that makes an interpreter one.
// From source and not shipped, because a sandbox's binary should be as easy to read as the rest of it, and the compiler
// is there anyway. The result is kept beside the compiled submissions, under a name that says what it was made from.
import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, SandboxError } from '#contract'
import { readVersion } from '#toolchain'

/** Where the two are on this host. */
export interface KeeperPrograms {
  readonly program: string
  readonly forkLibrary: string
}

const compiler = '/usr/bin/gcc'
/** Where the sources are. */
export const sourceDirectory = import.meta.dirname
/** What the compiler is told besides what to make. */
export const compileOptions: readonly string[] = [
  ['-std=c17', '-O2', '-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Werror'],
  ['-fstack-protector-strong', '-D_FORTIFY_SOURCE=2'],
].flat()

// With -z now names are resolved once, in the resident interpreter, and not again in each of its forks.
const libraryOptions = ['-shared', '-fPIC', '-fvisibility=hidden', '-Wl,-z,now']

const common = ['keeper.c', 'channel.c', 'supervise.c', 'root.c', 'box.c', 'group.c']
/** The sources of the program. */
export const programSources: readonly string[] = ['main.c', ...common]

/**
 * Compiles what is not there yet.
 * @param directory made with mode 0700; workers may share it.
 * @param further options of a test's own, such as a sanitizer's.
 * @throws {SandboxError} step `keeper.compile`.
 */
export async function buildKeeper(
  directory: string,
  further: readonly string[] = [],
): Promise<KeeperPrograms> {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const hash = createHash('sha256')
    const version = await readVersion(compiler, '--version')
    hash.update([version, ...compileOptions, ...libraryOptions, ...further].join('\0'))
    for (const name of readdirSync(sourceDirectory).toSorted())
      hash.update(readFileSync(`${sourceDirectory}/${name}`))
    const stem = `${directory}/${hash.digest('hex').slice(0, 32)}`
    const isStatic = further.length === 0
    const [program, forkLibrary] = await Promise.all([
      compile(stem, [...further, ...(isStatic ? ['-static'] : []), ...programSources]),
      compile(`${stem}.so`, [...further, ...libraryOptions, 'python.c', ...common]),
    ])
    return { program, forkLibrary }
  } catch (cause) {
    throw new SandboxError('keeper.compile', describe(cause), cause)
  }
}

async function compile(path: string, words: readonly string[]): Promise<string> {
  if (existsSync(path)) return path
  const unfinished = `${path}.${randomUUID()}`
  await promisify(execFile)(compiler, [...compileOptions, '-o', unfinished, ...words], {
    cwd: sourceDirectory,
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
  })
  // Read and started by the slots' users; the directory keeps everybody else out.
  chmodSync(unfinished, 0o755)
  renameSync(unfinished, path)
  return path
}
