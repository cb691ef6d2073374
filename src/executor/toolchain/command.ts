// What the commands of several compilers have in common.
import type { SourceFile } from '#contract'

/**
 * An environment variable that puts a program's heap in pages of 2 MiB, where the host has them (glibc 2.35): one page fault
 * instead of hundreds. It suits compilers and linkers, whose heap only grows until they end. A lone `gcc` takes ×0.88 of the
 * CPU time, a link of C++ by the default linker ×0.8, by gold ×0.9.
 */
export const hugeHeap = 'GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=8388608'

/** Lists the submission's files whose names end with one of the extensions, in their order, as a compiler's arguments. */
export function listSources(files: readonly SourceFile[], extensions: readonly string[]): string[] {
  return (
    files
      .map(({ name }) => name)
      .filter((name) => extensions.some((extension) => name.endsWith(extension)))
      // With `./` a name cannot be read as an option.
      .map((name) => `./${name}`)
  )
}
