// Selects the submission's files that its compiler gets as arguments.
import type { SourceFile } from '#contract'

/** Lists the files whose names end with one of the extensions, in their order. */
export function listSources(files: readonly SourceFile[], extensions: readonly string[]): string[] {
  return (
    files
      .map(({ name }) => name)
      .filter((name) => extensions.some((extension) => name.endsWith(extension)))
      // With `./` a name cannot be read as an option.
      .map((name) => `./${name}`)
  )
}
