// C++: GCC in the box; the binary comes out over a pipe and goes into the run's box the same way.
import { existsSync } from 'node:fs'
import { sharePath } from '#contract'
import { findFirstInclude } from './source.ts'
import type { Compiler, Preparation, Toolchain } from '../definition.ts'
import { keepPrecompiledHeaders, noPrecompiledHeaders } from './precompiled-header.ts'
import { readVersion } from '../version.ts'

/**
 * Finds the system's g++. Precompiled headers change nothing but time: with them the same binary comes out, and where
 * there is anything to say, or nothing comes out, it is plain g++ that says it.
 * @throws when it cannot be run.
 */
export async function findCpp(preparation: Preparation): Promise<Toolchain> {
  const program = '/usr/bin/g++'
  const versionLine = (await readVersion(program, '--version')).split('\n')[0] ?? ''
  const target = await readVersion(program, '-dumpmachine')
  const version = await readVersion(program, '-dumpfullversion', '-dumpversion')
  const major = version.split('.')[0] ?? version
  const linker = findLinker()
  const options = ['-O2', '-std=gnu++20', '-pipe', ...linker]
  const identity = `${versionLine} ${options.join(' ')}`
  const headers = preparation.precompiles
    ? keepPrecompiledHeaders(
        { ...preparation, directory: `${preparation.directory}/precompiled-header` },
        { program, options, identity },
      )
    : noPrecompiledHeaders
  const compiler: Compiler = {
    commandLine: ['g++', ...options, '-o', 'main', 'main.cpp'],
    identity,
    command: (code) => {
      const header = findFirstInclude(code)
      const precompiled = header === null ? null : headers.find(header)
      const script = precompiled === null ? plainly : quickly + plainly
      return {
        argv: ['/bin/sh', '-c', script, precompiled ?? 'sh', ...options],
        files: [{ path: '/box/main.cpp', content: code, executable: false }],
        unlimitedStack: true,
      }
    },
    resident: null,
    readArtefact: (stdout) => ({ content: stdout, entry: '' }),
  }
  return {
    version: `GCC ${version}`,
    compiler,
    commandLine: ['./main'],
    paths: [
      ...['/usr/include', '/usr/libexec/gcc'].filter((path) => existsSync(path)).map(sharePath),
      ...(headers.path === null ? [] : [headers.path]),
    ],
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

/** The shell keeps the compiler's own stdout out of the artefact's pipe. */
const plainly = `
g++ "$@" -o main main.cpp 1>&2 || exit $?
exec cat main`

/**
 * The same with the precompiled header in the directory $0, for programs about which there is nothing to say: a message
 * would name other lines than it should, so the first one ends the attempt. It goes nowhere but to `read`, as a program
 * could include a file, and nothing is read out of it, as a program can write it.
 */
const quickly = `
if g++ "$@" -isystem "$0" -Werror -Wfatal-errors -o main main.cpp 2>&1 | {
  ! read -r line && [ -z "$line" ] && [ -e main ]
}; then exec cat main; fi
rm -f main`

/** mold and gold link an iostream program in some 20 ms less than the default linker (measured, GCC 12). */
function findLinker(): string[] {
  const linker = ['mold', 'gold'].find((name) => existsSync(`/usr/bin/ld.${name}`))
  return linker === undefined ? [] : [`-fuse-ld=${linker}`]
}
