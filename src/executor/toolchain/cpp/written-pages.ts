// Finds the pages of a precompiled header that GCC writes to, and makes what has it copy them all at once (written-pages.cpp):
// a tenth of a small program's compilation, more of one that begins with <bits/stdc++.h> (measured, GCC 12).
import { chmod, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runInBackground } from '../background.ts'
import type { Compilation } from './precompiled-header.ts'

const source = fileURLToPath(new URL('written-pages.cpp', import.meta.url))

/** The list of pages, and what is preloaded; a compilation looks for the first. */
const names = ['written-pages', 'written-pages.so'] as const

// It goes without C++'s library. Before glibc 2.34 dlsym was in one of its own.
const [before, after] = [
  ['-shared', '-fPIC', '-fno-exceptions', '-nodefaultlibs'],
  ['-lc', '-ldl'],
]

/**
 * Makes both files in `directory`.
 * @param practice a program that begins with the header, and the directory in which GCC finds the latter.
 * @returns the files' names; none where the kernel or the directory's mount does not let it: then GCC copies as it goes.
 * @throws the signal's reason when aborted.
 */
export async function learnWrittenPages(
  directory: string,
  practice: { readonly source: string; readonly include: string },
  { program, options }: Compilation,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const [pages, library] = names.map((name) => `${directory}/${name}`) as [string, string]
  try {
    await runInBackground([program, '-O2', ...before, source, '-o', library, ...after], signal)
    const words = ['-isystem', practice.include, '-S', '-o', '/dev/null', '-x', 'c++']
    await runInBackground([program, ...options, ...words, practice.source], signal, {
      environment: { LD_PRELOAD: library, WRITTEN_PAGES: pages },
    })
    for (const made of [pages, library]) await chmod(made, 0o444)
    return names
  } catch {
    signal.throwIfAborted()
    for (const made of [pages, library]) await rm(made, { force: true })
    return []
  }
}
