// Which of a program's files its compiler is told of.
import type { SourceFile } from '#contract'

/** Those in the language itself, by their names' ends, then the main file: what it uses stands before it. */
export function listSources(
  files: readonly SourceFile[],
  main: string,
  extensions: readonly string[],
): string[] {
  const further = files
    .map(({ name }) => name)
    .filter((name) => extensions.some((extension) => name.endsWith(extension)))
  // A name is no option.
  return [...further.map((name) => `./${name}`), main]
}
