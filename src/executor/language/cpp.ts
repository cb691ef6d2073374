// C++: GCC in the box; the binary comes out over a pipe and goes into the run's box the same way.
import { existsSync } from 'node:fs'
import type { Compiler, Toolchain } from './language.ts'
import { readVersion } from './version.ts'

/** Finds the system's g++. @throws when it cannot be run. */
export async function findCpp(): Promise<Toolchain> {
  const program = '/usr/bin/g++'
  const versionLine = (await readVersion(program, '--version')).split('\n')[0] ?? ''
  const target = await readVersion(program, '-dumpmachine')
  const version = await readVersion(program, '-dumpfullversion', '-dumpversion')
  const major = version.split('.')[0] ?? version
  const linker = findLinker()
  const options = ['-O2', '-std=gnu++20', '-pipe', ...linker]
  const compiler: Compiler = {
    commandLine: ['g++', ...options, '-o', 'main', 'main.cpp'],
    identity: `${versionLine} ${options.join(' ')}`,
    command: (code) => ({
      // The shell keeps the compiler's own stdout out of the artefact's pipe.
      argv: [
        '/bin/sh',
        '-c',
        'g++ "$@" -o main main.cpp 1>&2 || exit $?; exec cat main',
        'sh',
        ...options,
      ],
      files: [{ path: '/box/main.cpp', content: code, executable: false }],
      unlimitedStack: true,
    }),
    readArtefact: (stdout) => ({ content: stdout, entry: '' }),
  }
  return {
    version: `GCC ${version}`,
    compiler,
    commandLine: ['./main'],
    paths: ['/usr/include', '/usr/libexec/gcc'].filter((path) => existsSync(path)),
    warmPaths: [
      program,
      '/usr/bin/as',
      '/usr/bin/ld',
      ...linker.map((option) => `/usr/bin/ld.${option.split('=')[1]}`),
      `/usr/lib/${target}`,
      `/usr/lib/gcc/${target}/${major}`,
      `/usr/libexec/gcc/${target}/${major}`,
      `/usr/include/${target}/bits`,
      `/usr/include/${target}/c++/${major}/bits`,
      `/usr/include/c++/${major}`,
      `/usr/include/c++/${major}/bits`,
      `/usr/include/c++/${major}/ext`,
      '/usr/include',
    ],
    run: ({ content }) => ({
      argv: ['./main'],
      files: [{ path: '/box/main', content, executable: true }],
      unlimitedStack: true,
    }),
    ranOutOfMemory: () => false,
  }
}

/** mold and gold link an iostream program in some 20 ms less than the default linker (measured, GCC 12). */
function findLinker(): string[] {
  const linker = ['mold', 'gold'].find((name) => existsSync(`/usr/bin/ld.${name}`))
  return linker === undefined ? [] : [`-fuse-ld=${linker}`]
}
