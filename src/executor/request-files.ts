// Combines the files that a request sends, and those that it asks for, with a command's own files.
import type { BoxFile, Command, SourceFile } from '#contract'

/** Adds files to a command. A name conflict with a file of the command becomes a command that reports it and exits with 1. */
export function withFiles(files: readonly SourceFile[], command: Command): Command {
  if (files.length === 0) return command
  const own = command.files.map(({ path }) => path)
  const further = files.map(({ name, content }): BoxFile => ({
    path: `/box/${name}`,
    content,
    executable: false,
  }))
  // One file's path may also be a directory in the other's path.
  const taken = further.find(({ path }) =>
    own.some((one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`)),
  )
  if (taken === undefined) return { ...command, files: [...command.files, ...further] }
  const message = `${taken.path.slice('/box/'.length)}: this name is taken`
  return { ...command, argv: ['/bin/sh', '-c', 'echo "$1" >&2; exit 1', 'sh', message] }
}

/** Removes the names of the command's own files: they are not outputs, even if the program has changed them. */
export function exceptOwn(names: readonly string[], { files }: Command): string[] {
  const own = new Set(files.map(({ path }) => path))
  return names.filter((name) => !own.has(`/box/${name}`))
}
