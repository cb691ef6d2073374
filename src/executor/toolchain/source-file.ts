// Which of a program's files its compiler is given.
import type { SourceFile } from '#contract'

/** Those in the language itself, by their names' ends, in their order. */
export function listSources(files: readonly SourceFile[], extensions: readonly string[]): string[] {
  return (
    files
      .map(({ name }) => name)
      .filter((name) => extensions.some((extension) => name.endsWith(extension)))
      // A name is no option.
      .map((name) => `./${name}`)
  )
}
