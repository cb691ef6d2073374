// Compiles the keeper's program, and the library that turns an interpreter into a keeper. Both contain the library for
// prestarted runtimes (prestart.c). The repository has no binary, because a sandbox should be readable. `make keeper` and the
// image compile ahead; a worker that finds no programs compiles them. File names are hashes of the sources.
//
// Usage: node src/executor/box/keeper/build.ts
import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { describe, SandboxError } from '#contract'

export interface KeeperPrograms {
  readonly program: string
  readonly forkLibrary: string
}

const compiler = '/usr/bin/gcc'
const sourceDirectory = import.meta.dirname
/** Directory of the programs that are compiled ahead. */
export const builtDirectory = `${dirname(sourceDirectory)}/dist`
const compileOptions: readonly string[] = [
  ['-std=c17', '-O2', '-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Werror'],
  ['-fstack-protector-strong', '-D_FORTIFY_SOURCE=2', '-D_GNU_SOURCE'],
].flat()

// -z now resolves names once, in the resident interpreter, instead of in each fork.
const libraryOptions = ['-shared', '-fPIC', '-fvisibility=hidden', '-Wl,-z,now']

const common = (
  'keeper.c channel.c request.c result.c supervise.c delay.c root.c box.c confine.c loopback.c init.c ' +
  'group.c group-v2.c group-v1.c output.c runtime.c carry.c'
).split(' ')
const programSources: readonly string[] = ['main.c', ...common]

/**
 * Returns the programs that were compiled ahead, or compiles those that are missing.
 * @param directory made with mode 0700; workers may share it.
 * @param further options of the compiler, such as a test's sanitizer.
 * @throws {SandboxError} step `keeper.compile`.
 */
export async function buildKeeper(
  directory: string,
  further: readonly string[] = [],
): Promise<KeeperPrograms> {
  try {
    const name = nameBuild(further)
    const built = namePrograms(`${builtDirectory}/${name}`)
    if (Object.values(built).every((path) => existsSync(path))) return built
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const stem = `${directory}/${name}`
    const { program, forkLibrary } = namePrograms(stem)
    const isStatic = further.length === 0
    const library = await compile(`${stem}.prestart.so`, [...libraryOptions, '-s', 'prestart.c'])
    const contains = `-DPRESTART_LIBRARY="${library}"`
    await Promise.all([
      compile(program, [...further, ...(isStatic ? ['-static'] : []), contains, ...programSources]),
      compile(forkLibrary, [
        ...further,
        ...libraryOptions,
        contains,
        'python.c',
        'early-end.c',
        'modules.c',
        ...common,
      ]),
    ])
    return { program, forkLibrary }
  } catch (cause) {
    throw new SandboxError(
      'keeper.compile',
      `${describe(cause)}; run make keeper, with gcc and libc6-dev installed`,
      cause,
    )
  }
}

function nameBuild(further: readonly string[]): string {
  const hash = createHash('sha256')
  // Machines of both architectures may share a checkout.
  hash.update([process.arch, ...compileOptions, ...libraryOptions, ...further].join('\0'))
  for (const name of readdirSync(sourceDirectory).toSorted())
    hash.update(readFileSync(`${sourceDirectory}/${name}`))
  return hash.digest('hex').slice(0, 32)
}

function namePrograms(stem: string): KeeperPrograms {
  return { program: stem, forkLibrary: `${stem}.so` }
}

async function compile(path: string, words: readonly string[]): Promise<string> {
  if (existsSync(path)) return path
  const unfinished = `${path}.${randomUUID()}`
  await promisify(execFile)(compiler, [...compileOptions, '-o', unfinished, ...words], {
    cwd: sourceDirectory,
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
  })
  // The slots' users execute it. The directory keeps other users out.
  chmodSync(unfinished, 0o755)
  renameSync(unfinished, path)
  return path
}

if (import.meta.main) {
  await buildKeeper(builtDirectory)
  // Workers of other users run these programs, too.
  chmodSync(builtDirectory, 0o755)
}
