// What runs in a box: a command line, the files it starts with, and the host paths that it sees.

/** A file that is in the box when the command starts. The program may read it. */
export interface BoxFile {
  /** Absolute path inside the box. */
  readonly path: string
  readonly content: Uint8Array
  readonly executable: boolean
}

/** A command line and the files it starts with. The working directory is `/box`. */
export interface Command {
  readonly argv: readonly string[]
  readonly files: readonly BoxFile[]
  /** True for most programs: they recurse on the main thread's stack. Virtual machines allot their own stacks. */
  readonly unlimitedStack: boolean
  /** Variables in addition to those of every program. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A host file or directory, and its path in the box. */
export interface HostPath {
  readonly source: string
  readonly target: string
}

/** Returns a host path that has the same path in the box. */
export function sharePath(path: string): HostPath {
  return { source: path, target: path }
}
