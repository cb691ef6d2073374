// C++: g++ compiles in one box and writes the binary to stdout; the keeper puts it into the box of the run.
import { existsSync } from 'node:fs'
import { sharePath } from '#contract'
import { cpp } from '#language'
import { hugeHeap, listSources } from '../command.ts'
import type { Compiler, FindToolchain, Preparation, Toolchain } from '../definition.ts'
import { findTool } from '../tool.ts'
import { readVersion } from '../version.ts'
import { findHeader } from './first-include.ts'
import { keepPrecompiledHeaders } from './precompiled-header.ts'
import type { Compilation, PrecompiledHeaders } from './precompiled-header.ts'

interface Gcc extends Compilation {
  readonly version: string
  readonly linker: readonly string[]
  /** The target machine, as in the names of GCC's directories. */
  readonly target: string
}

export const findCpp: FindToolchain = async (host, settings) => {
  const { path: program } = await findTool(host, cpp.tools[0])
  const versionLine = (await readVersion(program, ['--version'])).split('\n')[0] ?? ''
  const linker = findLinker()
  const options = ['-O2', '-std=gnu++20', '-pipe', ...linker]
  const gcc: Gcc = {
    program,
    options,
    identity: `${versionLine} ${options.join(' ')}`,
    version: await readVersion(program, ['-dumpfullversion', '-dumpversion']),
    linker,
    target: await readVersion(program, ['-dumpmachine']),
  }
  const toolchain = describeGcc(gcc)
  if (!settings.CPP_PRECOMPILED_HEADERS) return toolchain
  // They only save time: the binary is the same. When there is a message or no binary, plain g++ compiles again.
  const preparation: Preparation = (workshop) => {
    const directory = `${workshop.directory}/precompiled-header`
    return describeGcc(gcc, keepPrecompiledHeaders({ ...workshop, directory }, gcc))
  }
  return { ...toolchain, accelerators: { preparation } }
}

function describeGcc(gcc: Gcc, headers?: PrecompiledHeaders): Toolchain {
  const { program, version, linker, target } = gcc
  const major = version.split('.')[0] ?? version
  return {
    version: `GCC ${version}`,
    location: program,
    compiler: describeCompiler(gcc, headers),
    commandLine: ['./main'],
    paths: [
      ...['/usr/include', '/usr/libexec/gcc'].filter((path) => existsSync(path)).map(sharePath),
      ...(headers ? [headers.path] : []),
    ],
    files: [program],
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
    accelerators: {},
  }
}

function describeCompiler({ options, identity }: Gcc, headers?: PrecompiledHeaders): Compiler {
  return {
    commandLine: ['g++', ...options, '-o', 'main', 'main.cpp'],
    identity,
    command: ({ code, files, arguments: args }) => {
      const sources = listSources(files, cpp.extensions)
      // The precompiled headers fit the usual options only.
      const isUsual = sources.length === 0 && args.length === 0
      const script = isUsual && headers ? findHeader(headers.listReady()) + quickly : ''
      const argv = [...options, '-o', 'main', ...sources, 'main.cpp', ...args]
      return {
        argv: ['/bin/sh', '-c', script + plainly, 'sh', ...argv],
        files: [{ path: '/box/main.cpp', content: code, executable: false }],
        unlimitedStack: true,
      }
    },
    readArtefact: (stdout) => ({ content: stdout, entry: '' }),
  }
}

/** The shell keeps the compiler's stdout out of the artefact's pipe. */
const plainly = `
${hugeHeap} g++ "$@" 1>&2 || exit $?
exec cat main`

/**
 * Compiles with the precompiled header if there is one for the program. Messages would name wrong lines, so the first message
 * ends the attempt. Messages go only to `read`, because the program could include a file that holds them. Their text is not
 * used, because the program can influence it.
 */
const quickly = `
find_header <main.cpp 2>/dev/null
if [ -n "$header" ]; then
  ${hugeHeap} g++ "$@" -isystem "$header" -Werror -Wfatal-errors 2>&1 | {
    ! read -r line && [ -z "$line" ] && [ -e main ]
  } && exec cat main
  rm -f main
fi`

/** Prefers mold and gold: they link an iostream program some 20 ms faster than the default linker (measured, GCC 12). */
function findLinker(): string[] {
  const linker = ['mold', 'gold'].find((name) => existsSync(`/usr/bin/ld.${name}`))
  return linker === undefined ? [] : [`-fuse-ld=${linker}`]
}
