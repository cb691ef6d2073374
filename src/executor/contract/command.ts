// What runs in a box: a command line, the files it starts with, and what of the host it sees.

/** A file that stands in the box when its command starts; the program may read it. */
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
  /** Most programs recurse on the main thread's stack; a virtual machine that allots its own stacks wants the usual one. */
  readonly unlimitedStack: boolean
  /** Variables beside those that every program finds. */
  readonly environment?: Readonly<Record<string, string>>
  /** True when an interpreter that is already up, started with the same words, may run it in a fork (ForkServer). */
  readonly forks?: true
}

/** A host file or directory, and where in the box it stands. */
export interface HostPath {
  readonly source: string
  readonly target: string
}

/** A path that has the same name in the box as on the host. */
export function sharePath(path: string): HostPath {
  return { source: path, target: path }
}
