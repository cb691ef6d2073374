// The files that a request brings, and those that it asks for, beside a command's own.
import type { BoxFile, Command, SourceFile } from '#contract'

/** Lays files beside a command's own. One that has the name of one of these stands in nobody's place: it is an error. */
export function withFiles(files: readonly SourceFile[], command: Command): Command {
  if (files.length === 0) return command
  const own = command.files.map(({ path }) => path)
  const further = files.map(({ name, content }): BoxFile => ({
    path: `/box/${name}`,
    content,
    executable: false,
  }))
  // Also a file that would have to be a directory of the other.
  const taken = further.find(({ path }) =>
    own.some((one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`)),
  )
  if (taken === undefined) return { ...command, files: [...command.files, ...further] }
  const message = `${taken.path.slice('/box/'.length)}: this name is taken`
  return { ...command, argv: ['/bin/sh', '-c', 'echo "$1" >&2; exit 1', 'sh', message] }
}

/** A program's own file is none that it left, though it may have changed it. */
export function exceptOwn(names: readonly string[], { files }: Command): string[] {
  const own = new Set(files.map(({ path }) => path))
  return names.filter((name) => !own.has(`/box/${name}`))
}
