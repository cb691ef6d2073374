// Makes what compiles with a precompiled header: a driver that has GCC up before there is a source (driver.cpp), and the library
// that it preloads into GCC (the other sources). A worker's first start compiles both, within half a second.
import { createHash, randomUUID } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { runInBackground } from '../background.ts'

const directory = import.meta.dirname

/** Names in the directory that boxes see. */
export const quickCompiler = { driver: 'driver', library: 'library.so' } as const

/** They go without C++'s library. Before glibc 2.34 dlsym was in one of its own. */
const builds = {
  [quickCompiler.driver]: { sources: ['driver.cpp'], options: ['-Wl,-z,now'] },
  [quickCompiler.library]: {
    sources: [
      'await-source.cpp',
      'early-end.cpp',
      'library-names.cpp',
      'made-templates.cpp',
      'opened-header.cpp',
      'written-pages.cpp',
    ],
    options: ['-shared', '-fPIC', '-Wl,-z,now'],
  },
} as const

/** What tells which templates programs commonly use (made-templates.cpp). */
export const commonProgram = `${directory}/common-program.cpp`

/** Tells these sources from other releases'. */
export function identifySources(): string {
  const hash = createHash('sha256')
  const names = readdirSync(directory).filter((name) => /\.(cpp|h)$/.test(name))
  for (const each of names.toSorted()) hash.update(readFileSync(`${directory}/${each}`))
  return hash.digest('hex')
}

/**
 * Compiles what is missing in `own`, which other workers may share.
 * @returns whether the library is a plugin of this GCC's.
 * @throws when g++ fails, when nothing there can be run (a `noexec` mount), or the signal's reason when aborted.
 */
export async function buildQuickCompiler(
  own: string,
  program: string,
  signal: AbortSignal,
): Promise<boolean> {
  await Promise.all(
    Object.entries(builds).map(async ([name, { sources, options }]) => {
      if (existsSync(`${own}/${name}`)) return
      const unfinished = `${own}/.${randomUUID()}`
      try {
        const words = ['-O2', '-fno-exceptions', '-nodefaultlibs', '-o', unfinished, ...options]
        const paths = sources.map((source) => `${directory}/${source}`)
        await runInBackground([program, ...words, ...paths, '-lc', '-ldl'], signal)
        chmodSync(unfinished, 0o555)
        await rename(unfinished, `${own}/${name}`)
      } finally {
        await rm(unfinished, { force: true })
      }
    }),
  )
  await runInBackground([`${own}/${quickCompiler.driver}`], signal)
  const nothing = ['-x', 'c++', '-fsyntax-only', '/dev/null']
  return runInBackground([program, usePlugin(own), ...nothing], signal).then(
    () => true,
    () => false,
  )
}

/** Has GCC preload the library in a directory. */
export function preload(own: string): Readonly<Record<string, string>> {
  return { LD_PRELOAD: `${own}/${quickCompiler.library}` }
}

/** GCC's option for the library in a directory. */
export function usePlugin(own: string): string {
  return `-fplugin=${own}/${quickCompiler.library}`
}

/** GCC's option for a parameter of the library's (made-templates.cpp). */
export function tellPlugin(name: string, value?: string): string {
  return `-fplugin-arg-library-${name}${value === undefined ? '' : `=${value}`}`
}

/**
 * Has GCC compile a program that begins with a header, and notes to which pages of that it writes (written-pages.cpp).
 * @param pages where they are noted.
 * Where the kernel or the directory's mount does not let it, none are, and GCC copies as it goes.
 * @throws the signal's reason when aborted.
 */
export async function learnWrittenPages(
  own: string,
  command: readonly string[],
  pages: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await runInBackground(command, signal, {
      environment: { ...preload(own), WRITTEN_PAGES: pages },
    })
    chmodSync(pages, 0o444)
  } catch {
    signal.throwIfAborted()
    await rm(pages, { force: true })
  }
}
